import CoreMetrics
import Domain
import Foundation
import Metrics

/// What waits of one app, as metrics.
struct BacklogGauges: Sendable {
    /// Those of one of Apple's environments.
    private struct Cases: Sendable {
        let environment: AppStoreEnvironment
        let open: Gauge
        let nearestDeadline: Gauge
    }

    private let deliveries: [(state: Delivery.State, gauge: Gauge)]
    private let oldestAge: Gauge
    private let cases: [Cases]

    init(_ app: App, factory: any MetricsFactory) {
        func gauge(_ label: String, _ dimensions: [(String, String)] = []) -> Gauge {
            Gauge(label: label, dimensions: [("app", app.slug)] + dimensions, factory: factory)
        }
        deliveries = [.queued, .sending].map { ($0, gauge("purser_deliveries", [("state", $0.rawValue)])) }
        oldestAge = gauge("purser_delivery_oldest_age_seconds")
        cases = app.environments.map { environment in
            let dimensions = [("environment", environment.rawValue)]
            return Cases(
                environment: environment, open: gauge("purser_cases_open", dimensions),
                nearestDeadline: gauge("purser_case_nearest_deadline_seconds", dimensions))
        }
    }

    /// Sets them to what waits now.
    func show(_ waiting: [DeliveryBacklog], _ open: [CaseBacklog], at now: Date) {
        for (state, gauge) in deliveries { gauge.record(waiting.first { $0.state == state }?.count ?? 0) }
        let oldest = waiting.map(\.oldestCreatedAt).min()
        oldestAge.record(oldest.map { max(0, now.timeIntervalSince($0)) } ?? 0)
        for gauges in cases {
            let found = open.first { $0.environment == gauges.environment }
            gauges.open.record(found?.open ?? 0)
            gauges.nearestDeadline.record(found.map { $0.nearestDeadline.timeIntervalSince(now) } ?? .infinity)
        }
    }
}
