/// The limits within which deliveries are sent.
package struct DispatchPolicy: Sendable {
    /// How many are sent at the same time.
    package let concurrency: Int
    /// How long an attempt may take, looking its transaction up included.
    package let attemptTime: Duration
    /// How much longer than an attempt a claim holds, so that its end can be recorded.
    package let leaseMargin: Duration
    /// No attempt starts when less than this is left before the deadline.
    package let minimumAttemptTime: Duration
    /// The wait after an attempt in which nothing was sent and nobody said how long to wait.
    package let unsentPause: Duration
    /// The longest wait without a look at the store.
    package let longestPause: Duration
    package let backoff: DeliveryBackoff

    package init(
        concurrency: Int = 64, attemptTime: Duration = .seconds(30), leaseMargin: Duration = .seconds(30),
        minimumAttemptTime: Duration = .seconds(1), unsentPause: Duration = .seconds(5),
        longestPause: Duration = .seconds(60), backoff: DeliveryBackoff = DeliveryBackoff()
    ) {
        self.concurrency = concurrency
        self.attemptTime = attemptTime
        self.leaseMargin = leaseMargin
        self.minimumAttemptTime = minimumAttemptTime
        self.unsentPause = unsentPause
        self.longestPause = longestPause
        self.backoff = backoff
    }

    /// How long a claim holds.
    var lease: Duration { attemptTime + leaseMargin }
}
