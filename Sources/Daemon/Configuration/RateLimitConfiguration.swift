/// What Apple's rate limits are taken to be, and how they are shared out.
package struct RateLimitConfiguration: Sendable, Equatable {
    /// Calls per second in production by the title of Apple's page, for those that differ from what we know of Apple.
    package let requestsPerSecond: [String: Int]
    /// How many percent of the production limits the sandbox has.
    package let sandboxShare: Int
    /// How many percent of a limit are kept for consumption, on the calls that it needs.
    package let reservedShare: Int

    package init(requestsPerSecond: [String: Int] = [:], sandboxShare: Int = 10, reservedShare: Int = 20) {
        self.requestsPerSecond = requestsPerSecond
        self.sandboxShare = sandboxShare
        self.reservedShare = reservedShare
    }
}
