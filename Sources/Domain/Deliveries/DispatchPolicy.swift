/// The limits within which deliveries are sent.
package struct DispatchPolicy: Sendable {
    /// How many are sent at the same time.
    package let concurrency: Int
    /// How long an attempt may take, looking its transaction up included.
    package let attemptTime: Duration
    /// How much longer than an attempt a claim holds, so that its end can be recorded; half of it is never used to send, however
    /// long the way from the claim to the attempt was.
    package let leaseMargin: Duration
    /// No attempt starts when less than this is left before the deadline.
    package let minimumAttemptTime: Duration
    /// The wait after an attempt in which nothing was sent and nobody said how long to wait.
    package let unsentPause: Duration
    /// The longest wait without a look at the store.
    package let longestPause: Duration
    package let backoff: DeliveryBackoff

    package init(
        concurrency: Int = 64, attemptTime: Duration = .seconds(30), leaseMargin: Duration = .seconds(10),
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

    /// How long a claim holds: no attempt of it lasts longer, so that nobody need take it for longer meanwhile.
    var lease: Duration { attemptTime + leaseMargin }

    /// Until when a claim lets an attempt go on.
    ///
    /// `claimed`: a moment before the store was asked for it.
    func end(ofAttempts claimed: ContinuousClock.Instant) -> ContinuousClock.Instant {
        claimed + lease - leaseMargin / 2
    }
}

/// How long a delivery waits after an attempt that failed.
///
/// Exponential with full jitter: the wait is drawn evenly between nothing and a bound that doubles each time, so that
/// deliveries which failed together do not come back together.
package struct DeliveryBackoff: Sendable {
    /// The bound of the first wait.
    let base: Duration
    /// The largest bound.
    let cap: Duration
    /// A number in 0..<1.
    let random: @Sendable () -> Double

    package init(
        base: Duration = .milliseconds(200), cap: Duration = .seconds(300),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.base = base
        self.cap = cap
        self.random = random
    }

    /// The wait before the next attempt.
    ///
    /// It ends in time for another attempt, whoever asks for how long: as the deadline comes nearer, the attempts come closer
    /// together, and what ends a delivery is its deadline.
    ///
    /// - Parameters:
    ///   - attempts: how many there were.
    ///   - notBefore: how long Apple or our budget asks to wait, if they do.
    ///   - atLeast: how long we want to wait, whatever is drawn.
    ///   - remaining: the time until the last moment at which an attempt may start.
    /// - Returns: nil when no further attempt may start.
    func delay(after attempts: Int, notBefore: Duration?, atLeast: Duration, remaining: Duration) -> Duration? {
        guard remaining > base else { return nil }
        let bound = min(base * (1 << min(max(attempts, 1) - 1, 30)), cap)
        let ours = min(max(bound * random(), atLeast), remaining / 2)
        guard let notBefore, notBefore > ours else { return ours }
        return notBefore < remaining ? notBefore : remaining / 2
    }
}
