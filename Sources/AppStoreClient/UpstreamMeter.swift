package import CoreMetrics
import Domain
import Metrics

/// Counts calls of Apple's API by endpoint.
package struct UpstreamMeter: Sendable {
    private let factory: any MetricsFactory

    package init(factory: any MetricsFactory) { self.factory = factory }

    func count(
        _ endpoint: String, app: String, environment: AppStoreEnvironment, status: Int?, duration: Duration
    ) {
        Counter(
            label: "purser_upstream_calls",
            dimensions: [
                ("endpoint", endpoint), ("app", app), ("environment", environment.rawValue),
                ("status", status.map(String.init) ?? "none"),
            ], factory: factory
        ).increment()
        Timer(
            label: "purser_upstream_call_duration_seconds", dimensions: [("endpoint", endpoint)], factory: factory
        ).record(duration: duration)
    }

    func countRetry(_ endpoint: String) {
        Counter(label: "purser_upstream_retries", dimensions: [("endpoint", endpoint)], factory: factory).increment()
    }

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
    func countVerification(_ result: String) {
        Counter(label: "purser_verifications", dimensions: [("result", result)], factory: factory).increment()
    }
}
