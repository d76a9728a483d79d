/// When a failed attempt is repeated, and after how long.
///
/// Exponential backoff with full jitter: the wait is drawn evenly between nothing and a bound that doubles each time, so
/// that callers which failed together do not come back together.
package struct RetryPolicy: Sendable {
    package let maximumAttempts: Int
    /// The bound of the first wait.
    package let base: Duration
    /// The largest bound.
    package let cap: Duration
    /// A number in 0..<1.
    let random: @Sendable () -> Double

    package init(
        maximumAttempts: Int = 3, base: Duration = .milliseconds(200), cap: Duration = .seconds(5),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.cap = cap
        self.random = random
    }

    /// The wait before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: how many attempts have been made, at least 1.
    ///   - notBefore: the time that Apple asked to wait, if it did.
    ///   - remaining: the time until the caller's deadline.
    /// - Returns: nil when no further attempt may start.
    func delay(after attempt: Int, notBefore: Duration?, remaining: Duration) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        let bound = min(base * (1 << min(attempt - 1, 20)), cap)
        let delay = max(bound * random(), notBefore ?? .zero)
        return delay < remaining ? delay : nil
    }
}
