import GRPCCore

/// How long to wait before the next try: longer each time, and never all clients at the same moment.
struct Backoff {
    /// In milliseconds, as all of them.
    private static let first = 250
    private static let longest = 10_000
    private var next = Self.first

    /// Until the next try, and not before Purser wants to be asked again.
    mutating func delay(atLeast wish: Duration?) -> Duration {
        let pause = Duration.milliseconds(Int.random(in: next / 2...next))
        next = min(next * 2, Self.longest)
        return max(pause, wish ?? .zero)
    }

    /// What was tried has succeeded.
    mutating func reset() { next = Self.first }
}

/// Makes a call, and makes it again where nothing has been done, until it is answered or the time is over.
///
/// - Parameters:
///   - limit: The deadline of all tries together.
///   - call: Makes the call with the options that it is given: what is left of the time is each try's deadline, which Purser is
///     told. It sends the same request each time, with the same idempotency key.
/// - Returns: The answer.
/// - Throws: A `Failure`.
func repeated<Answer>(within limit: Duration, _ call: (CallOptions) async throws -> Answer) async throws -> Answer {
    let clock = ContinuousClock()
    let end = clock.now + limit
    var backoff = Backoff()
    while true {
        do {
            var options = CallOptions.defaults
            options.timeout = clock.now.duration(to: end)
            return try await call(options)
        } catch let error as RPCError {
            let failure = Failure(error)
            let delay = backoff.delay(atLeast: failure.retryDelay)
            guard case .repeatCall = failure.reaction, clock.now + delay < end else { throw failure }
            complain("\(failure.code): \(failure.message); again after \(delay)")
            try await clock.sleep(for: delay)
        }
    }
}
