package import AppStoreAPI

/// Counts calls by app, endpoint and environment in fixed windows.
struct RateLimiter: Sendable {
    /// Where several apply, the last does.
    var rules: [RateLimitRule] = []
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
    ) throws(AppleServiceError) {
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
    ) -> RateLimitRule? {
        let own = rules.last { rule in
            (rule.environment ?? environment) == environment && (rule.operation ?? operation) == operation
                && (rule.bundleID ?? bundleID) == bundleID
        }
        return own ?? .published(for: operation, in: environment)
    }
}

/// How often an app may call an endpoint: what the control port sets, or Apple's published rate.
package struct RateLimitRule: Sendable, Hashable {
    /// Nil for every environment.
    package var environment: SimulatedEnvironment?
    /// Nil for every endpoint.
    package var operation: Endpoint.Operation?
    /// Nil for every app.
    package var bundleID: String?
    /// Calls in a window; 0 refuses every call.
    package var limit: Int
    /// Length of the window, aligned to its multiples since 1970.
    package var windowSeconds: Int64

    package init(
        environment: SimulatedEnvironment? = nil, operation: Endpoint.Operation? = nil, bundleID: String? = nil,
        limit: Int, windowSeconds: Int64 = Int64(PublishedRateLimits.windowSeconds)
    ) {
        self.environment = environment
        self.operation = operation
        self.bundleID = bundleID
        self.limit = limit
        self.windowSeconds = windowSeconds
    }

    /// Apple's own limit; nil where Apple publishes none.
    package static func published(
        for operation: Endpoint.Operation, in environment: SimulatedEnvironment
    ) -> RateLimitRule? {
        PublishedRateLimits.callsPerHour(operation, inSandbox: environment == .sandbox).map { RateLimitRule(limit: $0) }
    }
}
