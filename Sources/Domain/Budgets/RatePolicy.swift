/// What the budgets hold calls to: all that an operator can decide about them.
package struct RatePolicy: Sendable {
    /// By the title of Apple's page for the call; what is not named is counted, and not limited.
    package let limits: [AppStoreEnvironment: [String: RateLimit]]
    /// How many calls a caller may make about one app in any hour, all endpoints together, by the caller's name.
    package let quotas: [String: Int]
    /// How many callers may ask about an app, by its slug; they share its limits.
    package var callers: [String: Int]

    package init(
        limits: [AppStoreEnvironment: [String: RateLimit]], quotas: [String: Int] = [:], callers: [String: Int] = [:]
    ) {
        self.limits = limits
        self.quotas = quotas
        self.callers = callers
    }
}

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

/// How much of a capacity one of several callers may use.
///
/// `docs/decisions/0006-rate-budgets.md` tells what follows from the rule.
enum FairShare {
    /// What a caller may use in all, what it has used included.
    ///
    /// Its fair share is the capacity divided by the callers; as long as somebody may still come, one share more is kept
    /// for whoever that is, and nobody's fair share is more than half of what the others have left. Beyond it a caller may
    /// borrow the first half of the rest.
    ///
    /// - Parameters:
    ///   - capacity: what there is for all callers together.
    ///   - usedByOthers: what the others have used of it.
    ///   - callers: how many have used anything, the one who asks included; at least one.
    ///   - mayGrow: whether somebody may still come.
    /// - Returns: never more than the others have left, and at least one if they have left anything.
    static func allowance(of capacity: Int, usedByOthers: Int, callers: Int, mayGrow: Bool) -> Int {
        let left = max(0, capacity - usedByOthers)
        let share = mayGrow ? min(capacity / (callers + 1), left / 2) : min(capacity / callers, left)
        return share + (left - share + 1) / 2
    }
}
