import CoreMetrics
import Domain
import Foundation
import Metrics
import Synchronization

/// What waits in the store: for Apple, for callers, for the operator.
struct Backlog: Sendable {
    var deliveries: [DeliveryBacklog] = []
    var cases: [CaseBacklog] = []
    /// Notifications that do not verify as the apps' as they are configured.
    var quarantined: (count: Int, latest: Date?) = (0, nil)
    /// Why nothing is sent, if so.
    var hold: SendingHold?

    var openCases: Int { cases.reduce(0) { $0 + $1.open } }
    var nearestDeadline: Date? { cases.map(\.nearestDeadline).min() }
    var waitingDeliveries: Int { deliveries.reduce(0) { $0 + $1.count } }
    var oldestDelivery: Date? { deliveries.map(\.oldestCreatedAt).min() }

    /// Asks a store.
    static func read(
        _ store: any DeliveryStore & CaseStore & QuarantineStore
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
    private let clock: ClockReport?
    private let sendingHeld: Gauge
    private let quarantined: Gauge
    /// By the slug of the app; at most one each.
    private let gauges = Mutex<[String: BacklogGauges]>([:])
    private let latest = Mutex<Backlog?>(nil)

    init(
        apps: AppCatalog, metrics: any MetricsFactory, now: @escaping WallClock, clock: ClockReport? = nil,
        read: @escaping @Sendable () async throws(ServiceError) -> Backlog
    ) {
        self.read = read
        self.apps = apps
        self.metrics = metrics
        self.now = now
        self.clock = clock
        sendingHeld = Gauge(label: "purser_sending_held", dimensions: [], factory: metrics)
        quarantined = Gauge(label: "purser_quarantined_notifications", dimensions: [], factory: metrics)
    }

    /// What the last look found; nil before the first one and after one that failed.
    var backlog: Backlog? { latest.withLock(\.self) }

    /// Looks, and sets the gauges.
    ///
    /// - Throws: `storeUnavailable`; what was found earlier is then forgotten.
    func look() async throws(ServiceError) {
        clock?.show()
        do throws(ServiceError) {
            let found = try await read()
            latest.withLock { $0 = found }
            show(found, at: now())
        } catch {
            latest.withLock { $0 = nil }
            throw error
        }
    }

    /// An app has series from the first time on that anything of it waits: ten thousand apps of which nothing does cost
    /// nothing, here and in every scrape.
    private func show(_ backlog: Backlog, at now: Date) {
        sendingHeld.record(backlog.hold == nil ? 0 : 1)
        quarantined.record(backlog.quarantined.count)
        let deliveries = Dictionary(grouping: backlog.deliveries, by: \.app)
        let cases = Dictionary(grouping: backlog.cases, by: \.app)
        let shown = gauges.withLock { gauges in
            for slug in Set(deliveries.keys).union(cases.keys) where gauges[slug] == nil {
                // Nor has one that has left the configuration.
                guard let app = try? apps.app(slug) else { continue }
                gauges[slug] = BacklogGauges(app, factory: metrics)
            }
            return gauges
        }
        for (slug, gauges) in shown {
            gauges.show(deliveries[slug] ?? [], cases[slug] ?? [], at: now)
        }
    }
}

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
