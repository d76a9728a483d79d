/// What the budgets hold calls to: all that an operator can decide about them.
package struct RatePolicy: Sendable {
    /// By the title of Apple's page for the call; what is not named is counted, and not limited.
    package let limits: [AppStoreEnvironment: [String: RateLimit]]
    /// How many calls a caller may make about one app in any hour, all endpoints together, by the caller's name.
    package let quotas: [String: Int]
    /// How many callers may ask about an app, by its slug; they share its limits.
    package let callers: [String: Int]

    package init(
        limits: [AppStoreEnvironment: [String: RateLimit]], quotas: [String: Int] = [:], callers: [String: Int] = [:]
    ) {
        self.limits = limits
        self.quotas = quotas
        self.callers = callers
    }
}
