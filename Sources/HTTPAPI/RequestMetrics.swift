import CoreMetrics
import HTTPTypes
import Metrics
import Synchronization

/// Counts requests and their durations by route, and the durations by caller.
final class RequestMeter: Sendable {
    private struct Key: Hashable {
        let route: String
        let method: String
        let status: Int
    }

    private struct Handles {
        var counters: [Key: Counter] = [:]
        var timers: [String: Timer] = [:]
        /// By the caller's name.
        var callerTimers: [String: Timer] = [:]
    }

    /// How many callers have times of their own; those beyond share one.
    static let maximumCallers = 1000
    /// The name under which those beyond are, which no caller can have.
    static let otherCallers = "*"

    private let listener: String
    private let factory: any MetricsFactory
    private let handles = Mutex(Handles())
    /// Requests shed because too many others were worked on.
    private let refusals: Counter

    init(listener: String, factory: any MetricsFactory) {
        self.listener = listener
        self.factory = factory
        refusals = Counter(
            label: "purser_http_requests_turned_away", dimensions: [("listener", listener)], factory: factory)
    }

    /// Counts a request that there was no place for.
    func countRefusal() { refusals.increment() }

    func count(_ record: AccessRecord) {
        let (route, status) = (record.route, record.status.code)
        // Of requests without a route anyone may choose the method; the number of series must stay bounded.
        let method = route == AccessRecord.unrouted ? "any" : record.method.rawValue
        let key = Key(route: route, method: method, status: status)
        let (counter, timer, callerTimer) = handles.withLock { handles in
            let counter =
                handles.counters[key]
                ?? Counter(
                    label: "purser_http_requests",
                    dimensions: [
                        ("listener", listener), ("route", key.route), ("method", key.method),
                        ("status", String(status)),
                    ], factory: factory)
            handles.counters[key] = counter
            let timer =
                handles.timers[route]
                ?? Timer(
                    label: "purser_http_request_duration_seconds",
                    dimensions: [("listener", listener), ("route", route)], factory: factory)
            handles.timers[route] = timer
            return (counter, timer, record.caller.map { makeTimer(of: $0, &handles) })
        }
        counter.increment()
        timer.record(duration: record.duration)
        callerTimer?.record(duration: record.duration)
    }

    /// By caller apart from the routes: the product of both would be too many series.
    private func makeTimer(of caller: String, _ handles: inout Handles) -> Timer {
        let isOneTooMany = handles.callerTimers[caller] == nil && handles.callerTimers.count >= Self.maximumCallers
        let name = isOneTooMany ? Self.otherCallers : caller
        if let timer = handles.callerTimers[name] { return timer }
        let timer = Timer(
            label: "purser_http_caller_request_duration_seconds",
            dimensions: [("listener", listener), ("caller", name)], factory: factory)
        handles.callerTimers[name] = timer
        return timer
    }
}
