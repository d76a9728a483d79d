import CoreMetrics
import Curl
package import Domain
import Logging
import Metrics
import Synchronization

/// When calls stop that would fail anyway, and when one is let through to look whether Apple is back.
package struct CircuitBreakerPolicy: Sendable {
    /// How many calls must fail, none succeeding in between.
    let failures: Int
    /// How long they must have been failing: a connection that dies with many calls on it is no outage.
    let sustained: Duration
    /// How long nothing is sent before the first probe; twice as long after each probe that fails.
    let firstPause: Duration
    let longestPause: Duration

    package static let standard = CircuitBreakerPolicy(
        failures: 5, sustained: .seconds(10), firstPause: .seconds(5), longestPause: .seconds(60))

    package init(failures: Int, sustained: Duration, firstPause: Duration, longestPause: Duration) {
        self.failures = failures
        self.sustained = sustained
        self.firstPause = firstPause
        self.longestPause = longestPause
    }
}

/// Stops calls to one environment while Apple fails: a state machine without clock, lock or log.
///
/// Closed, it lets calls through. After sustained failure it opens, and calls fail at once. When its pause is over it is
/// half open: one call at a time goes through as a probe; success closes it, failure opens it for twice as long.
struct CircuitBreaker: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum State: Sendable, Equatable {
        /// `failingSince`: the first of the failures in a row; nil without any.
        case closed(failures: Int, failingSince: Instant?)
        case open(until: Instant, pause: Duration)
        case halfOpen(isProbing: Bool, pause: Duration)
    }

    /// What a call says when it ends.
    enum Verdict: Sendable, Equatable {
        /// Apple answered, whatever it said.
        case answered
        /// Apple failed, or could not be reached.
        case failed
        /// The call was not made, or told nothing of Apple.
        case nothing

        /// A timeout tells nothing of Apple when the caller left it less time.
        private static let fairTimeout = Duration.seconds(2)

        /// What a transfer without an answer says of Apple.
        ///
        /// `remaining`: the time that it was given.
        init(_ error: CurlError, within remaining: Duration) {
            self =
                switch error.kind {
                case .timeout: remaining >= Self.fairTimeout ? .failed : .nothing
                case .nameResolution, .addressRefused, .connectFailed, .tls, .connectionLost, .protocolError, .other:
                    .failed
                case .responseTooLarge: .answered
                case .tooLate, .invalidRequest, .cancelled, .shutDown: .nothing
                }
        }
    }

    /// Leave to make one call, to be given back with the verdict.
    struct Permit: Sendable, Equatable {
        fileprivate let epoch: UInt64
    }

    enum Admission: Sendable, Equatable {
        case admitted(Permit)
        /// The least time until a call may be admitted again.
        case refused(retryAfter: Duration)
    }

    /// How long those wait who come while a probe is under way.
    static let pauseWhileProbing = Duration.seconds(1)

    private(set) var state = State.closed(failures: 0, failingSince: nil)
    private let policy: CircuitBreakerPolicy
    /// Counts the changes of state, so that calls which began before one do not decide about what comes after.
    private var epoch: UInt64 = 0

    init(policy: CircuitBreakerPolicy) { self.policy = policy }

    /// Lets a call through, or not.
    mutating func admit(at now: Instant) -> Admission {
        switch state {
        case .closed:
            return .admitted(Permit(epoch: epoch))
        case .open(let until, let pause):
            guard now >= until else { return .refused(retryAfter: now.duration(to: until)) }
            return probe(pause)
        case .halfOpen(let isProbing, let pause):
            return isProbing ? .refused(retryAfter: Self.pauseWhileProbing) : probe(pause)
        }
    }

    private mutating func probe(_ pause: Duration) -> Admission {
        enter(.halfOpen(isProbing: true, pause: pause))
        return .admitted(Permit(epoch: epoch))
    }

    /// Takes note of how a call ended.
    mutating func record(_ verdict: Verdict, of permit: Permit, at now: Instant) {
        guard permit.epoch == epoch else { return }
        switch (state, verdict) {
        case (.closed, .answered):
            state = .closed(failures: 0, failingSince: nil)
        case (.closed(let failures, let failingSince), .failed):
            let since = failingSince ?? now
            if failures + 1 >= policy.failures, since.duration(to: now) >= policy.sustained {
                enter(.open(until: now + policy.firstPause, pause: policy.firstPause))
            } else {
                state = .closed(failures: failures + 1, failingSince: since)
            }
        case (.halfOpen, .answered):
            enter(.closed(failures: 0, failingSince: nil))
        case (.halfOpen(_, let pause), .failed):
            let longer = min(pause * 2, policy.longestPause)
            enter(.open(until: now + longer, pause: longer))
        case (.halfOpen(_, let pause), .nothing):
            enter(.halfOpen(isProbing: false, pause: pause))
        case (.closed, .nothing), (.open, _):
            break
        }
    }

    private mutating func enter(_ state: State) {
        self.state = state
        epoch += 1
    }
}

/// The circuit breakers of all environments; an outage is logged when it begins and when it is over, and shown as a metric.
final class CircuitBreakers: Sendable {
    private let breakers: Mutex<[AppStoreEnvironment: CircuitBreaker]>
    private let clock: ServiceClock
    private let gauges: [AppStoreEnvironment: Gauge]
    private let logger: Logger

    init(policy: CircuitBreakerPolicy, clock: ServiceClock, meter: UpstreamMeter, logger: Logger) {
        let environments = AppStoreEnvironment.allCases
        breakers = Mutex(
            Dictionary(uniqueKeysWithValues: environments.map { ($0, CircuitBreaker(policy: policy)) }))
        gauges = Dictionary(uniqueKeysWithValues: environments.map { ($0, meter.circuitGauge($0)) })
        self.clock = clock
        self.logger = logger
        gauges.values.forEach { $0.record(0) }
    }

    /// Lets a call through, or says how long to wait.
    func admit(_ environment: AppStoreEnvironment) -> CircuitBreaker.Admission {
        change(environment, else: .refused(retryAfter: CircuitBreaker.pauseWhileProbing)) { $0.admit(at: $1) }
    }

    /// Takes note of how a call ended.
    ///
    /// `cause`: what failed, for the line that tells of an outage; asked for if there is such a line.
    func record(
        _ verdict: CircuitBreaker.Verdict, of permit: CircuitBreaker.Permit, in environment: AppStoreEnvironment,
        cause: @autoclosure () -> String? = nil
    ) {
        change(environment, else: (), cause: cause) { $0.record(verdict, of: permit, at: $1) }
    }

    /// The present state of an environment's breaker.
    func state(of environment: AppStoreEnvironment) -> CircuitBreaker.State? {
        breakers.withLock { $0[environment]?.state }
    }

    private func change<Result: Sendable>(
        _ environment: AppStoreEnvironment, else missing: Result, cause: () -> String? = { nil },
        _ body: (inout CircuitBreaker, ContinuousClock.Instant) -> Result
    ) -> Result {
        let now = clock.monotonicNow()
        let (result, before, after) = breakers.withLock { breakers in
            guard var breaker = breakers[environment] else { return (missing, Kind?.none, Kind?.none) }
            let before = Kind(breaker.state)
            let result = body(&breaker, now)
            breakers[environment] = breaker
            return (result, before, Kind(breaker.state))
        }
        if let before, let after, after != before { tell(after, after: before, environment, cause()) }
        return result
    }

    /// The states that an operator cares for.
    private enum Kind: String {
        case closed
        case open
        case halfOpen = "half open"

        init(_ state: CircuitBreaker.State) {
            self =
                switch state {
                case .closed: .closed
                case .open: .open
                case .halfOpen: .halfOpen
                }
        }
    }

    /// One line when an outage begins and one when it is over, however often somebody has looked in between.
    private func tell(_ kind: Kind, after before: Kind, _ environment: AppStoreEnvironment, _ cause: String?) {
        gauges[environment]?.record(kind == .closed ? 0 : 1)
        var metadata: Logger.Metadata = ["environment": "\(environment.rawValue)", "state": "\(kind.rawValue)"]
        if let cause { metadata["cause"] = "\(cause)" }
        switch (before, kind) {
        case (.closed, _): logger.error("Apple fails: no calls but one at a time that looks", metadata: metadata)
        case (_, .closed): logger.notice("Apple answers again", metadata: metadata)
        default: logger.debug("The circuit to Apple has changed", metadata: metadata)
        }
    }
}

extension AppStoreClient {
    /// How each environment of Apple's is, as far as calls have shown; for `/healthz`.
    package func health() -> [HealthReport.Part] {
        AppStoreEnvironment.allCases.compactMap { environment in
            breakers.state(of: environment).map { state in
                let (isHealthy, detail) = describe(state)
                return HealthReport.Part(
                    name: "apple:\(environment.rawValue)", isHealthy: isHealthy, detail: detail)
            }
        }
    }

    private func describe(_ state: CircuitBreaker.State) -> (Bool, String) {
        switch state {
        case .closed(0, _): return (true, "calls go through")
        case .closed(let failures, _): return (true, "calls go through; the last \(failures) failed")
        case .open(let until, _):
            let seconds = max(0, clock.remaining(until: until).components.seconds)
            return (false, "Apple fails: no calls for \(seconds) s, then one to look")
        case .halfOpen: return (false, "Apple failed: one call at a time looks whether it is back")
        }
    }
}
