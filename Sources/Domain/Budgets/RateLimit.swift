/// How often an app may make one call of Apple's API in one environment.
package struct RateLimit: Sendable, Equatable {
    /// Calls in any hour, at least one.
    package let callsPerHour: Int
    /// How many of them are kept for work with a deadline; fewer than all.
    package let reserved: Int

    /// - Parameters:
    ///   - callsPerHour: calls in any hour; less than one counts as one.
    ///   - reservedPercent: how much of that is kept for work with a deadline, rounded down.
    package init(callsPerHour: Int, reservedPercent: Int = 0) {
        let calls = max(1, callsPerHour)
        self.callsPerHour = calls
        reserved = min(calls - 1, calls * reservedPercent / 100)
    }

    /// A limit as Apple publishes it: stated by the second, counted by the hour.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: Apple's figure.
    ///   - percent: how much of it applies, for the sandbox.
    ///   - reservedPercent: as above.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    package init(requestsPerSecond: Int, percent: Int = 100, reservedPercent: Int = 0) {
        self.init(callsPerHour: requestsPerSecond * 3600 * percent / 100, reservedPercent: reservedPercent)
    }
}
