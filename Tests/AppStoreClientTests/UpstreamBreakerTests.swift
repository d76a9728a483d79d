import AppStoreAPI
import Domain
import TestSupport
import Testing

@testable import AppStoreClient

/// Calls stop while Apple fails, one environment apart from the other.
struct UpstreamBreakerTests {
    @Test func `after sustained failure nothing is sent but one probe, whose success lets all through`() async throws {
        let answers = Script(Array(repeating: .init(status: 503), count: 6) + [.init("{}")])
        var parts = UpstreamFixture.Dependencies()
        parts.breaker = CircuitBreakerPolicy(
            failures: 3, sustained: .seconds(1), firstPause: .seconds(5), longestPause: .seconds(60))
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                let isHealthy = { fixture.client.health().map(\.isHealthy) }
                #expect(await fixture.make(.getTransactionInfo).reason == .appleUnavailable)
                #expect(isHealthy() == [true, true], "three failures at once are no outage")
                fixture.clock.manual.advance(by: .seconds(1))
                let opening = await fixture.make(.getTransactionInfo)
                #expect(opening.attempts.count == 1, "the breaker stops repetitions too")
                #expect(fixture.server.requests.count == 4)
                #expect(isHealthy() == [false, true])
                let refused = await fixture.make(.getRefundHistory)
                #expect(refused.reason == .appleUnavailable && refused.error?.retryAfter == .seconds(5))
                #expect(refused.refusal == nil && refused.attempts.isEmpty)
                #expect(parts.budget.asked.count == 4, "what is not sent is not counted")

                fixture.clock.manual.advance(by: .seconds(5))
                _ = await fixture.make(.getTransactionInfo)
                #expect(fixture.server.requests.count == 5, "one probe")
                fixture.clock.manual.advance(by: .seconds(10))
                _ = await fixture.make(.getTransactionInfo)
                #expect(fixture.server.requests.count == 6, "the next probe after twice the pause")
                fixture.clock.manual.advance(by: .seconds(20))
                #expect(await fixture.make(.getTransactionInfo).reason == nil)
                #expect(isHealthy() == [true, true])
            })
    }

    @Test func `a probe that the budget refuses leaves room for another`() async throws {
        let isShort = Counter()
        var parts = UpstreamFixture.Dependencies()
        parts.breaker = CircuitBreakerPolicy(
            failures: 1, sustained: .zero, firstPause: .seconds(5), longestPause: .seconds(60))
        parts.budget = FakeBudget { _ in
            isShort.increment()
            return isShort.value == 2 ? .refused(.init(cause: .exhausted, retryAfter: .seconds(1))) : .admitted
        }
        let answers = Script([.init(status: 503), .init("{}")])
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                _ = await fixture.make(.getTransactionInfo)
                fixture.clock.manual.advance(by: .seconds(5))
                #expect(await fixture.make(.getTransactionInfo).reason == .budgetExhausted)
                #expect(await fixture.make(.getTransactionInfo).reason == nil)
            })
    }

    @Test func `what Apple answers about a request is no failure of Apple's`() async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.breaker = CircuitBreakerPolicy(
            failures: 1, sustained: .zero, firstPause: .seconds(5), longestPause: .seconds(60))
        try await UpstreamFixture.run(
            parts, handler: { _ in .apple(4_040_010) },
            during: { fixture in
                for _ in 0..<3 { #expect(await fixture.make(.getTransactionInfo).reason == .appleRejected) }
            })
    }
}
