package import CoreMetrics
import Domain
import Metrics
import Synchronization

/// Counts calls of Apple's API by endpoint.
package final class UpstreamMeter: Sendable {
    private struct Call: Hashable {
        let endpoint: String
        let app: String
        let environment: AppStoreEnvironment
        let status: Int?
    }

    let factory: any MetricsFactory
    private let calls: CounterSet<Call>
    private let retries: CounterSet<String>
    private let verifications: CounterSet<String>
    private struct Timed: Hashable {
        let endpoint: String
        let environment: AppStoreEnvironment
    }

    /// By endpoint, of which Apple has a few dozen, and environment.
    private let durations = Mutex<[Timed: any TimerHandler]>([:])

    package init(factory: any MetricsFactory) {
        self.factory = factory
        calls = CounterSet("purser_upstream_calls", factory: factory) { call in
            [
                ("endpoint", call.endpoint), ("app", call.app), ("environment", call.environment.rawValue),
                ("status", call.status.map(String.init) ?? "none"),
            ]
        }
        retries = CounterSet("purser_upstream_retries", factory: factory) { [("endpoint", $0)] }
        verifications = CounterSet("purser_verifications", factory: factory) { [("result", $0)] }
    }

    func count(
        _ endpoint: String, app: String, environment: AppStoreEnvironment, status: Int?, duration: Duration
    ) {
        calls.increment(Call(endpoint: endpoint, app: app, environment: environment, status: status))
        let timer = durations.withLock { durations in
            let timed = Timed(endpoint: endpoint, environment: environment)
            if let timer = durations[timed] { return timer }
            let timer = factory.makeTimer(
                label: "purser_upstream_call_duration_seconds",
                dimensions: [("endpoint", endpoint), ("environment", environment.rawValue)])
            durations[timed] = timer
            return timer
        }
        let (seconds, attoseconds) = duration.components
        timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    func countRetry(_ endpoint: String) { retries.increment(endpoint) }

    /// Tells whether calls to an environment are stopped: 1, or 0 when they go through.
    func circuitGauge(_ environment: AppStoreEnvironment) -> Gauge {
        Gauge(
            label: "purser_upstream_circuit_open", dimensions: [("environment", environment.rawValue)],
            factory: factory)
    }

    /// Counts what was found out about a token that Apple refused.
    func countFinding(_ cause: String, app: String, environment: AppStoreEnvironment) {
        Counter(
            label: "purser_upstream_unauthorized_findings",
            dimensions: [("app", app), ("environment", environment.rawValue), ("cause", cause)], factory: factory
        ).increment()
    }

    /// - Parameter result: `verified`, or why not.
    func countVerification(_ result: String) { verifications.increment(result) }
}

/// Counters of one label, found again by what is counted without making a text.
///
/// | Cache | Key | Lifetime | Bound |
/// | --- | --- | --- | --- |
/// | counters | what is counted | the process | `maximumCounters`, then all go and are asked for again |
///
/// Asking a metrics system for a counter costs a hundred times what counting does; so each is asked for once. Letting go of
/// one loses no count: the system keeps that.
package final class CounterSet<Key: Hashable & Sendable>: Sendable {
    private let label: String
    private let factory: any MetricsFactory
    private let maximumCounters: Int
    private let dimensions: @Sendable (Key) -> [(String, String)]
    private let counters = Mutex<[Key: any CounterHandler]>([:])

    /// - Parameters:
    ///   - label: the name of the metric.
    ///   - factory: makes the counters.
    ///   - maximumCounters: how many are kept; each takes about a hundred bytes.
    ///   - dimensions: names and values for what is counted.
    package init(
        _ label: String, factory: any MetricsFactory, maximumCounters: Int = 1 << 16,
        dimensions: @escaping @Sendable (Key) -> [(String, String)]
    ) {
        self.label = label
        self.factory = factory
        self.maximumCounters = maximumCounters
        self.dimensions = dimensions
    }

    package func increment(_ key: Key) {
        let counter = counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = factory.makeCounter(label: label, dimensions: dimensions(key))
            if counters.count >= maximumCounters { counters.removeAll(keepingCapacity: true) }
            counters[key] = counter
            return counter
        }
        counter.increment(by: 1)
    }
}
