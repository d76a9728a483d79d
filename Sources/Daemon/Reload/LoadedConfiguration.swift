import CoreMetrics
import Domain
import Foundation
import Metrics
import Synchronization

/// Which configuration is in force, and what became of the last reload: for health and metrics.
final class LoadedConfiguration: Sendable {
    private struct State {
        var generation = 1
        var loadedAt: Date
        var needsRestart: [String] = []
        /// Why the last reload changed nothing; nil when it did.
        var problem: String?
    }

    private let state: Mutex<State>
    private let successful: Gauge
    private let timestamp: Gauge

    /// The configuration of the start.
    init(at now: Date, metrics: any MetricsFactory) {
        state = Mutex(State(loadedAt: now))
        successful = Gauge(label: "purser_config_last_reload_successful", dimensions: [], factory: metrics)
        timestamp = Gauge(
            label: "purser_config_last_reload_success_timestamp_seconds", dimensions: [], factory: metrics)
        successful.record(1)
        timestamp.record(now.timeIntervalSince1970)
    }

    /// Counts the configurations of this process: 1 is the one of its start.
    var generation: Int { state.withLock(\.generation) }

    /// Notes that another configuration is in force.
    ///
    /// - Returns: its generation.
    func noteSuccess(at now: Date, needsRestart: [String]) -> Int {
        successful.record(1)
        timestamp.record(now.timeIntervalSince1970)
        return state.withLock { state in
            state = State(generation: state.generation + 1, loadedAt: now, needsRestart: needsRestart)
            return state.generation
        }
    }

    /// Notes that a reload has changed nothing, and why.
    func noteFailure(_ problem: String) {
        successful.record(0)
        state.withLock { $0.problem = problem }
    }

    /// For `/healthz`: not healthy while the file is another than what is in force because it is wrong.
    var part: HealthReport.Part {
        let state = state.withLock(\.self)
        let pieces = [
            "generation \(state.generation), loaded \(state.loadedAt.formatted(.iso8601))",
            state.needsRestart.isEmpty
                ? nil : "a restart is needed for \(state.needsRestart.joined(separator: ", "))",
            state.problem.map { "the last reload changed nothing: \($0)" },
        ]
        return HealthReport.Part(
            name: "configuration", isHealthy: state.problem == nil,
            detail: pieces.compactMap(\.self).joined(separator: "; "))
    }
}
