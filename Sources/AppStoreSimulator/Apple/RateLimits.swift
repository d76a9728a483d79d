import AppStoreAPI

/// Counts calls by app, endpoint and environment in fixed windows.
struct RateLimits: Sendable {
    /// Where several apply, the last does.
    var rules: [RateLimit] = []
    private var windows: [Subject: Window] = [:]

    private struct Subject: Hashable {
        let environment: SimulatedEnvironment
        let operation: Endpoint.Operation
        let bundleID: String
    }

    private struct Window {
        let start: Int64
        let end: Int64
        var calls: Int
    }

    /// Counts a call at a time in UNIX milliseconds; one that is refused does not count.
    mutating func count(
        _ operation: Endpoint.Operation, of bundleID: String, in environment: SimulatedEnvironment, now: Int64
    ) throws(Refusal) {
        guard let rule = rule(for: operation, bundleID, environment) else { return }
        let length = rule.windowSeconds * 1000
        let start = now - now % length
        let subject = Subject(environment: environment, operation: operation, bundleID: bundleID)
        var window = windows[subject] ?? Window(start: start, end: start + length, calls: 0)
        if window.start != start || window.end != start + length {
            window = Window(start: start, end: start + length, calls: 0)
        }
        guard window.calls < rule.limit else { throw .rateLimited(until: window.end) }
        window.calls += 1
        windows[subject] = window
    }

    private func rule(
        for operation: Endpoint.Operation, _ bundleID: String, _ environment: SimulatedEnvironment
    ) -> RateLimit? {
        let own = rules.last { rule in
            (rule.environment ?? environment) == environment && (rule.operation ?? operation) == operation
                && (rule.bundleID ?? bundleID) == bundleID
        }
        return own ?? .published(for: operation, in: environment)
    }
}
