import CoreMetrics
import Domain
import Metrics
import Synchronization

/// How Apple decides about refunds, as metrics: what the store has counted, so that a restart loses nothing.
final class RefundDecisionCounters: Sendable {
    /// What a series is of; an app has at most 24 of them.
    private struct Key: Hashable {
        let app: String
        let environment: AppStoreEnvironment
        let outcome: RefundCase.Outcome
        let refundPreference: ConsumptionV2.RefundPreference?
    }

    private let store: any RefundReportStore
    private let metrics: any MetricsFactory
    /// What the counters say.
    private let shown = Mutex<[Key: Int]>([:])

    init(store: any RefundReportStore, metrics: any MetricsFactory) {
        self.store = store
        self.metrics = metrics
    }

    /// Looks, and brings the counters to what the store says; a store that fails tells of it itself.
    func show() async {
        guard let counts = try? await store.refundDecisions() else { return }
        for count in counts {
            let key = Key(
                app: count.app, environment: count.environment, outcome: count.outcome,
                refundPreference: count.refundPreference)
            let news = shown.withLock { shown in
                defer { shown[key] = max(shown[key] ?? 0, count.count) }
                return count.count - (shown[key] ?? 0)
            }
            guard news > 0 else { continue }
            Counter(
                label: "purser_refund_decisions",
                dimensions: [
                    ("app", key.app), ("environment", key.environment.rawValue), ("outcome", key.outcome.rawValue),
                    ("refund_preference", key.refundPreference?.rawValue ?? "none"),
                ], factory: metrics
            ).increment(by: news)
        }
    }
}
