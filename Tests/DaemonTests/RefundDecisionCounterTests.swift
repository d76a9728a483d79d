import Domain
import Synchronization
import Testing

@testable import Daemon

/// How Apple decides, as the metrics tell it.
struct RefundDecisionCounterTests {
    /// A store that says what it is told to.
    private final class CountingStore: RefundReportStore {
        let counts = Mutex<[RefundDecisionCount]?>([])

        func refundReport(app: String, _ query: RefundReportQuery) async throws(ServiceError) -> RefundReport {
            RefundReport(rows: [])
        }

        func refundDecisions() async throws(ServiceError) -> [RefundDecisionCount] {
            guard let counts = counts.withLock(\.self) else { throw ServiceError(.storeUnavailable, "It is away.") }
            return counts
        }
    }

    private func count(
        _ outcome: RefundCase.Outcome, _ preference: ConsumptionV2.RefundPreference?, _ count: Int
    ) -> RefundDecisionCount {
        RefundDecisionCount(
            app: "coins", environment: .production, outcome: outcome, refundPreference: preference, count: count)
    }

    @Test func `the counters follow what the store has counted`() async throws {
        let registry = PrometheusRegistry(help: MetricsHelp.texts)
        let store = CountingStore()
        let counters = RefundDecisionCounters(store: store, metrics: registry)
        func lines() async -> [String] {
            await counters.show()
            return registry.render().split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix("purser_refund_decisions_total") }
        }
        func line(_ outcome: String, _ preference: String, _ count: Int) -> String {
            #"purser_refund_decisions_total{app="coins",environment="Production",outcome="\#(outcome)",refund_preference="\#(preference)"} \#(count)"#
        }
        #expect(await lines() == [])
        store.counts.withLock { $0 = [count(.refunded, .decline, 7)] }
        #expect(await lines() == [line("refunded", "DECLINE", 7)], "those of earlier runs count")
        #expect(await lines() == [line("refunded", "DECLINE", 7)])
        store.counts.withLock { $0 = [count(.refunded, .decline, 9), count(.refundDeclined, nil, 1)] }
        #expect(Set(await lines()) == [line("refunded", "DECLINE", 9), line("refundDeclined", "none", 1)])
        store.counts.withLock { $0 = nil }
        #expect(await lines().count == 2, "a store that fails changes nothing")
    }
}
