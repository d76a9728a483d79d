import Foundation
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

@testable import Daemon
@testable import Domain

/// What becomes of refund requests, as the metrics tell it.
struct RefundRequestGaugesTests {
    private static let now = CaseModel.time(8 * 24)

    /// A store whose reports count what it is told to, by app.
    private final class CountingStore: RefundReportStore {
        let figures = Mutex<[String: RefundFigures]?>([:])
        let queries = Mutex<[RefundReportQuery]>([])

        func refundReport(app: String, _ query: RefundReportQuery) async throws(ServiceError) -> RefundReport {
            queries.withLock { $0.append(query) }
            guard let figures = figures.withLock(\.self) else { throw ServiceError(.storeUnavailable, "It is away.") }
            guard query.environment == .production, let found = figures[app] else { return RefundReport(rows: []) }
            // In two currencies: both count.
            return RefundReport(
                rows: ["EUR", "USD"].map {
                    RefundReport.Row(key: RefundReport.Key(values: [], currency: $0), figures: found)
                })
        }

        func refundDecisions() async throws(ServiceError) -> [RefundDecisionCount] { [] }
    }

    @Test func `the gauges tell the last seven days of apps that have requests`() async throws {
        let (store, registry) = (CountingStore(), PrometheusRegistry(help: MetricsHelp.texts))
        let apps = AppCatalog(["coins", "gems"].map { App(slug: $0, bundleID: "com.example.\($0)") })
        let clock = ServiceClock(now: { Self.now })
        let gauges = RefundRequestGauges(
            reports: RefundReportService(store: store, clock: clock), apps: apps, metrics: registry, now: clock.now)
        func lines(_ name: String) async -> [String] {
            await gauges.show()
            return registry.render().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
        }
        #expect(await lines("purser_refund").isEmpty)
        var figures = RefundFigures()
        (figures.requests, figures.open, figures.answeredInTime, figures.answeredLate) = (10, 1, 2, 3)
        figures.silent = [.unanswered: 4]
        figures.outcomes = [.refunded: 5]
        store.figures.withLock { [figures] in $0 = ["coins": figures] }
        let requests = await lines("purser_refund_requests_week")
        func line(_ answer: String, _ silence: String, _ count: Int) -> String {
            #"purser_refund_requests_week{answer="\#(answer)",app="coins",environment="Production",silence="\#(silence)"} \#(count)"#
        }
        #expect(requests.count == 3 + RefundSilence.allCases.count)
        let expected = [
            line("open", "none", 2), line("inTime", "none", 4), line("late", "none", 6),
            line("silent", "unanswered", 8), line("silent", "declined", 0),
        ]
        #expect(Set(requests).isSuperset(of: expected), "\(requests)")
        let outcomes = await lines("purser_refund_outcomes_week")
        #expect(outcomes.count == 4)
        #expect(outcomes.contains { $0.contains(#"outcome="refunded""#) && $0.hasSuffix(" 10") })
        #expect(outcomes.contains { $0.contains(#"outcome="undecided""#) && $0.hasSuffix(" 10") })
        let queries = store.queries.withLock(\.self)
        #expect(queries.allSatisfy { $0.from == CaseModel.time(24) && $0.to == nil && $0.groupBy.isEmpty })
        store.figures.withLock { $0 = nil }
        #expect(await lines("purser_refund_requests_week") == requests, "a store that fails changes nothing")
        store.figures.withLock { $0 = [:] }
        #expect(await lines("purser_refund_requests_week").allSatisfy { $0.hasSuffix(" 0") }, "none is left")
    }
}
