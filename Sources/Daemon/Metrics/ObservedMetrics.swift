import CoreMetrics
import Domain
import Metrics
import StoreSQL
import StoreSQLite

/// Shows what is known elsewhere at any time, and so is asked for at each scrape and not counted.
func observe(_ adapters: Adapters, _ listeners: Listeners.Bound, _ beats: HeartbeatTimes) {
    let metrics = adapters.metrics
    metrics.observe("purser_build_info") {
        [
            (
                dimensions: [("version", Version.text), ("commit", Version.commit ?? "unknown")]
                    + Version.libraries.map { ($0.name, $0.version) }, value: 1
            )
        ]
    }
    metrics.observe("purser_heartbeat_age_seconds") {
        beats.ages.map { (dimensions: [("part", $0.key)], value: $0.value) }
    }
    metrics.observe("purser_store_writes_waiting") { [store = adapters.store] in
        [(dimensions: [], value: Double(store.waitingWrites))]
    }
    metrics.observe("purser_budget_remaining_calls") { [budgets = adapters.budgets] in
        budgets.remaining.map { left in
            (
                dimensions: [
                    ("app", left.app), ("environment", left.environment.rawValue), ("endpoint", left.endpoint),
                ], value: Double(left.calls)
            )
        }
    }
    let loads = listeners.loads
    metrics.observe("purser_http_requests_in_progress") {
        loads.map { (dimensions: [("listener", $0.name)], value: Double($0.load().requests)) }
    }
    metrics.observe("purser_http_connections") {
        loads.map { (dimensions: [("listener", $0.name)], value: Double($0.load().connections)) }
    }
}

/// How long the store's operations take.
struct StoreTimers: Sendable {
    private let timers: [StoreOperation: any TimerHandler]

    init(_ metrics: any MetricsFactory) {
        timers = Dictionary(
            uniqueKeysWithValues: StoreOperation.allCases.map { operation in
                (
                    operation,
                    metrics.makeTimer(
                        label: "purser_store_operation_duration_seconds",
                        dimensions: [("operation", operation.rawValue)])
                )
            })
    }

    /// Takes note of one.
    @Sendable func time(_ operation: StoreOperation, _ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        timers[operation]?.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
