import CoreMetrics
import Domain
import Foundation
import Metrics
import Synchronization

/// What becomes of refund requests, as metrics: the refund report of the last seven days, of apps that have any.
///
/// An app and environment have at most 16 series. Each look reads every case of these days, as a report does; it ends where a
/// report would, and the next one is as long after it as this one was after the last.
final class RefundRequestGauges: Sendable {
    /// How far back requests count.
    static let span = Duration.seconds(7 * 86_400)

    /// Whose series they are.
    private struct Lane: Hashable {
        let app: String
        let environment: AppStoreEnvironment
    }

    private let reports: RefundReportService
    private let apps: AppCatalog
    private let metrics: any MetricsFactory
    private let now: WallClock
    private let shown = Mutex<Set<Lane>>([])

    init(
        reports: RefundReportService, apps: AppCatalog, metrics: any MetricsFactory, now: @escaping WallClock
    ) {
        self.reports = reports
        self.apps = apps
        self.metrics = metrics
        self.now = now
    }

    /// Looks, and sets the gauges; of an app whose report cannot be made they stay as they were.
    func show() async {
        for app in apps.all {
            for environment in AppStoreEnvironment.allCases where app.environments.contains(environment) {
                guard !Task.isCancelled else { return }
                var query = RefundReportQuery(environment: environment)
                query.from = now().advanced(by: .zero - Self.span)
                guard let report = try? await reports.report(app: app, query) else { continue }
                let figures = report.rows.map(\.figures).reduce(RefundFigures(), +)
                let lane = Lane(app: app.slug, environment: environment)
                let isShown = shown.withLock { shown in
                    if figures.requests > 0 { shown.insert(lane) }
                    return shown.contains(lane)
                }
                if isShown { show(figures, of: lane) }
            }
        }
    }

    private func show(_ figures: RefundFigures, of lane: Lane) {
        let place = [("app", lane.app), ("environment", lane.environment.rawValue)]
        func set(_ answer: String, _ count: Int, because silence: String = "none") {
            gauge("purser_refund_requests_week", place + [("answer", answer), ("silence", silence)]).record(count)
        }
        set("open", figures.open)
        set("inTime", figures.answeredInTime)
        set("late", figures.answeredLate)
        for silence in RefundSilence.allCases { set("silent", figures.silent[silence] ?? 0, because: silence.rawValue) }
        func set(outcome: String, _ count: Int) {
            gauge("purser_refund_outcomes_week", place + [("outcome", outcome)]).record(count)
        }
        for outcome in RefundCase.Outcome.allCases { set(outcome: outcome.rawValue, figures.outcomes[outcome] ?? 0) }
        set(outcome: "undecided", figures.undecided)
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> Gauge {
        Gauge(label: label, dimensions: dimensions, factory: metrics)
    }
}
