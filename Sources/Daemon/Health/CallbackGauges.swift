import CoreMetrics
import Domain
import Metrics
import Synchronization

/// How callbacks fare, as metrics: by app, from its first callback on.
final class CallbackGauges: Sendable {
    private let store: any CallbackStore
    private let metrics: any MetricsFactory
    /// The slugs of apps that have series.
    private let apps = Mutex<Set<String>>([])

    init(store: any CallbackStore, metrics: any MetricsFactory) {
        self.store = store
        self.metrics = metrics
    }

    /// Looks, and sets the gauges; a store that fails tells of it itself.
    func show() async {
        guard let states = try? await store.callbackStates() else { return }
        let byApp = Dictionary(grouping: states, by: \.app)
        let shown = apps.withLock { apps in
            apps.formUnion(byApp.keys)
            return apps
        }
        for app in shown {
            let states = byApp[app] ?? []
            for state in Callback.State.allCases {
                gauge("purser_callbacks", [("app", app), ("state", state.rawValue)])
                    .record(states.count { $0.state == state })
            }
            gauge("purser_callbacks_failed", [("app", app)])
                .record(states.count { $0.pauseReason == .failing || $0.pauseReason == .gone })
            gauge("purser_callback_events_waiting", [("app", app)])
                .record(states.reduce(0) { $0 + $1.waiting })
        }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> Gauge {
        Gauge(label: label, dimensions: dimensions, factory: metrics)
    }
}
