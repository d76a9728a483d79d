import CoreMetrics
import HTTPTypes
import Metrics
import Synchronization

/// Counts requests and their durations by route.
final class RequestMeter: Sendable {
    private struct Key: Hashable {
        let route: String
        let method: String
        let status: Int
    }

    private struct Handles {
        var counters: [Key: Counter] = [:]
        var timers: [String: Timer] = [:]
    }

    private let face: String
    private let factory: any MetricsFactory
    private let handles = Mutex(Handles())

    init(face: String, factory: any MetricsFactory) {
        self.face = face
        self.factory = factory
    }

    /// `route`: the route's template, never the path itself, so that the number of series is bounded.
    func count(route: String, method: HTTPRequest.Method, status: Int, duration: Duration) {
        let key = Key(route: route, method: route == "unrouted" ? "any" : method.rawValue, status: status)
        let (counter, timer) = handles.withLock { handles in
            let counter =
                handles.counters[key]
                ?? Counter(
                    label: "purser_http_requests",
                    dimensions: [
                        ("listener", face), ("route", key.route), ("method", key.method), ("status", String(status)),
                    ], factory: factory)
            handles.counters[key] = counter
            let timer =
                handles.timers[route]
                ?? Timer(
                    label: "purser_http_request_duration_seconds",
                    dimensions: [("listener", face), ("route", route)], factory: factory)
            handles.timers[route] = timer
            return (counter, timer)
        }
        counter.increment()
        timer.record(duration: duration)
    }
}
