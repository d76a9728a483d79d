import CoreMetrics
import Domain
import Logging
import Metrics
import Synchronization

/// The circuit breakers of all environments; each change of one is logged once and shown as a metric.
final class CircuitBreakers: Sendable {
    private let breakers: Mutex<[AppStoreEnvironment: CircuitBreaker]>
    private let clock: UpstreamClock
    private let gauges: [AppStoreEnvironment: Gauge]
    private let logger: Logger

    init(policy: CircuitBreakerPolicy, clock: UpstreamClock, meter: UpstreamMeter, logger: Logger) {
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
    func record(
        _ verdict: CircuitBreaker.Verdict, of permit: CircuitBreaker.Permit, in environment: AppStoreEnvironment
    ) {
        change(environment, else: ()) { $0.record(verdict, of: permit, at: $1) }
    }

    /// The present state of an environment's breaker.
    func state(of environment: AppStoreEnvironment) -> CircuitBreaker.State? {
        breakers.withLock { $0[environment]?.state }
    }

    private func change<Result: Sendable>(
        _ environment: AppStoreEnvironment, else missing: Result,
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
        if let after, after != before { tell(after, environment) }
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

    private func tell(_ kind: Kind, _ environment: AppStoreEnvironment) {
        gauges[environment]?.record(kind == .closed ? 0 : 1)
        logger.log(
            level: kind == .open ? .error : .notice, "The circuit to Apple has changed",
            metadata: ["environment": "\(environment.rawValue)", "state": "\(kind.rawValue)"])
    }
}
