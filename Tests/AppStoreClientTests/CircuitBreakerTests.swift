import CoreMetrics
import Domain
import Logging
import TestSupport
import Testing

@testable import AppStoreClient

struct CircuitBreakerTests {
    private let start = ContinuousClock.now
    private let policy = CircuitBreakerPolicy(
        failures: 3, sustained: .seconds(10), firstPause: .seconds(5), longestPause: .seconds(15))

    private func fail(_ breaker: inout CircuitBreaker, at seconds: Int) {
        end(&breaker, .failed, at: seconds)
    }

    private func end(_ breaker: inout CircuitBreaker, _ verdict: CircuitBreaker.Verdict, at seconds: Int) {
        let now = start + .seconds(seconds)
        guard case .admitted(let permit) = breaker.admit(at: now) else {
            Issue.record("not admitted at \(seconds)")
            return
        }
        breaker.record(verdict, of: permit, at: now)
    }

    private func opened() -> CircuitBreaker {
        var breaker = CircuitBreaker(policy: policy)
        for second in [0, 5, 10] { fail(&breaker, at: second) }
        return breaker
    }

    @Test func `it opens when calls have failed for a while, and then fails fast with the time left`() {
        var breaker = opened()
        #expect(breaker.state == .open(until: start + .seconds(15), pause: .seconds(5)))
        #expect(breaker.admit(at: start + .seconds(12)) == .refused(retryAfter: .seconds(3)))
    }

    @Test func `an hour without Apple is told of by one line when it begins and one when it is over`() {
        let (clock, log) = (TestClock(), RecordedLog())
        let breakers = CircuitBreakers(
            policy: .standard, clock: clock.service(nil), meter: UpstreamMeter(factory: NOOPMetricsHandler.instance),
            logger: log.logger)
        func call(_ verdict: CircuitBreaker.Verdict) {
            guard case .admitted(let permit) = breakers.admit(.production) else { return }
            breakers.record(verdict, of: permit, in: .production, cause: verdict == .failed ? "no address" : nil)
        }
        for _ in 0..<3600 {
            call(.failed)
            clock.manual.advance(by: .seconds(1))
        }
        #expect(log.lines.count > 10, "it has been looked for again and again")
        clock.manual.advance(by: CircuitBreakerPolicy.standard.longestPause)
        call(.answered)
        #expect(
            log.lines.filter { $0.level > .debug }.map(\.message) == [
                "Apple fails: no calls but one at a time that looks", "Apple answers again",
            ])
        #expect(log.lines.filter { $0.level > .debug }.map(\.metadata["cause"]) == ["no address", nil])
    }

    @Test func `many failures at once are no outage, and one answer in between begins anew`() {
        var burst = CircuitBreaker(policy: policy)
        for _ in 0..<100 { fail(&burst, at: 0) }
        #expect(burst.state == .closed(failures: 100, failingSince: start))
        var mixed = CircuitBreaker(policy: policy)
        for second in [0, 5, 9] { fail(&mixed, at: second) }
        end(&mixed, .answered, at: 10)
        fail(&mixed, at: 20)
        #expect(mixed.state == .closed(failures: 1, failingSince: start + .seconds(20)))
    }

    @Test func `after the pause one probe at a time goes through, and its success closes`() {
        var breaker = opened()
        let now = start + .seconds(15)
        guard case .admitted(let probe) = breaker.admit(at: now) else {
            Issue.record("no probe")
            return
        }
        #expect(breaker.admit(at: now) == .refused(retryAfter: CircuitBreaker.pauseWhileProbing))
        breaker.record(.answered, of: probe, at: now)
        #expect(breaker.state == .closed(failures: 0, failingSince: nil))
    }

    @Test func `each probe that fails doubles the pause up to the longest`() {
        var breaker = opened()
        fail(&breaker, at: 15)
        #expect(breaker.state == .open(until: start + .seconds(25), pause: .seconds(10)))
        fail(&breaker, at: 25)
        #expect(breaker.state == .open(until: start + .seconds(40), pause: .seconds(15)))
    }

    @Test func `a probe that was not made makes room for another`() {
        var breaker = opened()
        end(&breaker, .nothing, at: 15)
        end(&breaker, .answered, at: 15)
        #expect(breaker.state == .closed(failures: 0, failingSince: nil))
    }

    @Test func `calls from before a change decide nothing after it`() {
        var breaker = CircuitBreaker(policy: policy)
        guard case .admitted(let early) = breaker.admit(at: start) else { return }
        for second in [0, 5, 10] { fail(&breaker, at: second) }
        let open = breaker.state
        breaker.record(.answered, of: early, at: start + .seconds(11))
        #expect(breaker.state == open)
    }
}
