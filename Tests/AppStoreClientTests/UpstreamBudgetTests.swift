import AppStoreAPI
import Domain
import Foundation
import TestSupport
import Testing

@testable import AppStoreClient

/// Every attempt asks the budget first; identical reads are made and counted once.
struct UpstreamBudgetTests {
    @Test func `what the budget refuses is not sent`() async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.budget = FakeBudget { _ in .refused(.init(cause: .exhausted, retryAfter: .seconds(7))) }
        try await UpstreamFixture.run(
            parts, handler: { _ in .init("{}") },
            during: { fixture in
                let outcome = await fixture.make(.getTransactionInfo, fixture.call(caller: "shop"))
                #expect(outcome.reason == .budgetExhausted)
                #expect(outcome.error?.retryAfter == .seconds(7))
                #expect(outcome.attempts.isEmpty && outcome.refusal == nil)
                #expect(fixture.server.requests.isEmpty)
                #expect(
                    parts.budget.asked == [
                        BudgetedCall(
                            app: "coins", endpoint: "Get Transaction Info", environment: .production, caller: "shop",
                            priority: .interactive)
                    ])
            })
    }

    @Test func `Apple's own wish to wait is told as Apple's`() async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.budget = FakeBudget { _ in .refused(.init(cause: .apple, retryAfter: .seconds(7))) }
        try await UpstreamFixture.run(
            parts, handler: { _ in .init("{}") },
            during: { fixture in
                #expect(await fixture.make(.getTransactionInfo).reason == .appleRateLimited)
            })
    }

    /// Waits until so many wait for the answer to Get Transaction Info.
    private func hasWaiters(_ count: Int, _ fixture: UpstreamFixture) async throws {
        let request = UpstreamRequest(.getTransactionInfo(transactionId: "1"))
        let key = Call.FlightKey(Call(fixture.client, request, fixture.call(), in: .production))
        try await Wait.until("\(count) who wait for one answer") {
            fixture.client.flights.waiterCount(key) == count
        }
    }

    @Test func `identical reads at a time are one call, counted for the first; others are not`() async throws {
        let gate = Gate()
        gate.close()
        let parts = UpstreamFixture.Dependencies()
        try await UpstreamFixture.run(
            parts,
            handler: { _ in
                await gate.pass()
                return .init("{}")
            },
            during: { fixture in
                try await withThrowingTaskGroup(of: ServiceError.Reason?.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            await fixture.make(.getTransactionInfo, fixture.call(caller: "c\(number)")).reason
                        }
                    }
                    try await hasWaiters(20, fixture)
                    group.addTask { await fixture.make(.getTransactionInfo, in: .sandbox).reason }
                    group.addTask { await fixture.make(.getRefundHistory).reason }
                    group.addTask { await fixture.make(.requestTestNotification).reason }
                    group.addTask { await fixture.make(.requestTestNotification).reason }
                    await gate.hasArrivals(5)
                    gate.open()
                    for try await reason in group { #expect(reason == nil) }
                }
                #expect(fixture.server.requests.count == 5)
                #expect(parts.budget.asked.count == 5)
            })
    }

    @Test func `a caller that has used its share does not hold up another that asks the same`() async throws {
        let soon = String(Int(TestClock.date.timeIntervalSince1970 * 1000) + 10_000)
        let answers = Script([.apple(4_290_000, headers: [("Retry-After", soon)]), .init("{}")])
        let greedyCalls = Counter()
        var parts = UpstreamFixture.Dependencies()
        parts.budget = FakeBudget { call in
            guard call.caller == "greedy" else { return .admitted }
            greedyCalls.increment()
            return greedyCalls.value == 1 ? .admitted : .refused(.init(cause: .unfair, retryAfter: .seconds(7)))
        }
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                async let greedy = fixture.make(.getTransactionInfo, fixture.call(caller: "greedy"))
                await fixture.clock.manual.sleeperHasArrived()
                async let modest = fixture.make(.getTransactionInfo, fixture.call(caller: "modest"))
                try await hasWaiters(2, fixture)
                fixture.clock.manual.advance(by: .seconds(10))
                #expect(await greedy.reason == .budgetExhausted)
                #expect(await modest.reason == nil)
                #expect(parts.budget.asked.map(\.caller) == ["greedy", "greedy", "modest"])
            })
    }
}
