import CoreMetrics
import Domain
import Foundation
import Metrics
import Synchronization

/// What waits in the store: for Apple, for callers, for the operator.
struct Backlog: Sendable {
    var deliveries: [DeliveryBacklog] = []
    var cases: [CaseBacklog] = []
    /// Notifications that Apple signed, but not for what the configuration names.
    var quarantined: (count: Int, latest: Date?) = (0, nil)
    /// Why nothing is sent, if so.
    var hold: SendingHold?

    var openCases: Int { cases.reduce(0) { $0 + $1.open } }
    var nearestDeadline: Date? { cases.map(\.nearestDeadline).min() }
    var waitingDeliveries: Int { deliveries.reduce(0) { $0 + $1.count } }
    var oldestDelivery: Date? { deliveries.map(\.oldestCreatedAt).min() }

    /// Asks a store.
    static func read(
        _ store: some DeliveryStore & CaseStore & NotificationStore
    ) async throws(ServiceError) -> Backlog {
        Backlog(
            deliveries: try await store.deliveryBacklog(), cases: try await store.caseBacklog(),
            quarantined: try await store.quarantineStatus(), hold: try await store.sendingHold())
    }
}

/// Looks at what waits now and then, so that the status line, the health details and the metrics can tell of it without
/// asking the store each time.
final class BacklogMonitor: Sendable {
    private let read: @Sendable () async throws(ServiceError) -> Backlog
    private let apps: AppCatalog
    private let metrics: any MetricsFactory
    private let now: WallClock
    private let latest = Mutex<Backlog?>(nil)

    init(
        apps: AppCatalog, metrics: any MetricsFactory, now: @escaping WallClock,
        read: @escaping @Sendable () async throws(ServiceError) -> Backlog
    ) {
        self.read = read
        self.apps = apps
        self.metrics = metrics
        self.now = now
    }

    /// What the last look found; nil before the first one and after one that failed.
    var backlog: Backlog? { latest.withLock(\.self) }

    /// Looks, and sets the gauges.
    ///
    /// - Throws: `storeUnavailable`; what was found earlier is then forgotten.
    func look() async throws(ServiceError) {
        do throws(ServiceError) {
            let found = try await read()
            latest.withLock { $0 = found }
            show(found, at: now())
        } catch {
            latest.withLock { $0 = nil }
            throw error
        }
    }

    private func show(_ backlog: Backlog, at now: Date) {
        gauge("purser_sending_held", backlog.hold == nil ? 0 : 1)
        gauge("purser_quarantined_notifications", Double(backlog.quarantined.count))
        for app in apps.all {
            let waiting = backlog.deliveries.filter { $0.app == app.slug }
            for state in [Delivery.State.queued, .sending] {
                let count = waiting.first { $0.state == state }?.count ?? 0
                gauge("purser_deliveries", Double(count), [("app", app.slug), ("state", state.rawValue)])
            }
            let oldest = waiting.map(\.oldestCreatedAt).min()
            gauge(
                "purser_delivery_oldest_age_seconds", oldest.map { max(0, now.timeIntervalSince($0)) } ?? 0,
                [("app", app.slug)])
            for environment in app.environments {
                let open = backlog.cases.first { $0.app == app.slug && $0.environment == environment }
                let dimensions = [("app", app.slug), ("environment", environment.rawValue)]
                gauge("purser_cases_open", Double(open?.open ?? 0), dimensions)
                gauge(
                    "purser_case_nearest_deadline_seconds",
                    open.map { $0.nearestDeadline.timeIntervalSince(now) } ?? .infinity, dimensions)
            }
        }
    }

    private func gauge(_ label: String, _ value: Double, _ dimensions: [(String, String)] = []) {
        Gauge(label: label, dimensions: dimensions, factory: metrics).record(value)
    }
}
