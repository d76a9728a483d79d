import Domain
import Foundation
import TestSupport
import Testing

@testable import AppStoreClient

/// One attempt to hand an answer to Apple, and what its failure means for the next.
struct ConsumptionSendingTests {
    private let message = ConsumptionMessage(version: .v2, transactionID: "1", body: Array(#"{"a":1}"#.utf8))

    @Test func `what Apple accepts goes out once, byte for byte`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .init(status: 202) },
            during: { fixture in
                let outcome = await fixture.client.sendConsumption(message, fixture.call())
                #expect(outcome.failure == nil && outcome.attempts.map(\.httpStatus) == [202])
                #expect(fixture.server.requests.map(\.path) == ["/production/inApps/v2/transactions/consumption/1"])
                #expect(fixture.server.requests.first?.body == message.body)
            })
    }

    @Test(arguments: [
        (5_000_001, true, true), (5_000_000, true, true), (4_000_047, false, false), (4_040_010, false, false),
        (4_040_002, true, false), (4_290_000, true, false),
    ])
    func `a failure is left to whoever asks to try again`(code: Int, isRetryable: Bool, isDoubtful: Bool) async throws {
        try await UpstreamFixture.run(
            handler: { _ in .apple(code) },
            during: { fixture in
                let outcome = await fixture.client.sendConsumption(message, fixture.call())
                #expect(outcome.attempts.map(\.errorCode) == [Int64(code)] && fixture.server.requests.count == 1)
                #expect(outcome.failure?.error.isFinalRefusal == !isRetryable)
                #expect(outcome.mayHaveReachedApple == isDoubtful)
                #expect(outcome.failure?.isElsewhere == (code == 4_040_010))
                #expect(outcome.failure?.isSharedByEnvironment == (code == 4_290_000))
            })
    }

    @Test func `a refused token is replaced within the attempt`() async throws {
        let answers = Script([.init(status: 401), .init(status: 202)])
        try await UpstreamFixture.run(
            handler: { _ in answers.next() },
            during: { fixture in
                let outcome = await fixture.client.sendConsumption(message, fixture.call())
                #expect(outcome.failure == nil && outcome.attempts.map(\.httpStatus) == [401, 202])
            })
    }

    @Test(arguments: [
        (BudgetDecision.Refusal.Cause.exhausted, true), (.apple, true), (.unfair, false), (.quota, false),
    ])
    func `a budget that is used up stops all calls of it, a caller's own share does not`(
        cause: BudgetDecision.Refusal.Cause, isShared: Bool
    ) async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.budget = FakeBudget { _ in .refused(.init(cause: cause, retryAfter: .seconds(7))) }
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(status: 202) },
            during: { fixture in
                let outcome = await fixture.client.sendConsumption(message, fixture.call())
                #expect(outcome.failure?.isSharedByEnvironment == isShared && outcome.error?.isFinalRefusal == false)
                #expect(outcome.error?.retryAfter == .seconds(7))
                #expect(outcome.attempts.isEmpty && !outcome.mayHaveReachedApple && fixture.server.requests.isEmpty)
            })
    }

    @Test func `an open breaker stops the environment for as long as it says`() async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.breaker = CircuitBreakerPolicy(
            failures: 1, sustained: .zero, firstPause: .seconds(30), longestPause: .seconds(30))
        try await UpstreamFixture.run(
            parts, handler: { _ in .apple(5_000_000) },
            during: { fixture in
                let first = await fixture.client.sendConsumption(message, fixture.call())
                #expect(first.failure?.isSharedByEnvironment == false && first.attempts.count == 1)
                let second = await fixture.client.sendConsumption(message, fixture.call())
                #expect(second.failure?.isSharedByEnvironment == true && second.error?.retryAfter != nil)
                #expect(second.attempts.isEmpty && fixture.server.requests.count == 1)
            })
    }

    @Test func `a cancelled task ends the attempt, and Apple may have it`() async throws {
        let gate = Gate()
        gate.close()
        try await UpstreamFixture.run(
            handler: { _ in
                await gate.pass()
                return .init(status: 202)
            },
            during: { fixture in
                let sending = Task { await fixture.client.sendConsumption(message, fixture.call()) }
                await gate.hasArrivals(1)
                sending.cancel()
                let outcome = await sending.value
                #expect(outcome.error?.isFinalRefusal == false && outcome.mayHaveReachedApple)
                gate.open()
                #expect(fixture.server.requests.count == 1)
            })
    }

    @Test func `a task that was cancelled before sends nothing`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .init(status: 202) },
            during: { fixture in
                let outcome = await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await fixture.client.sendConsumption(message, fixture.call())
                }.value
                #expect(outcome.attempts.isEmpty && !outcome.mayHaveReachedApple)
                #expect(fixture.server.requests.isEmpty)
            })
    }
}
