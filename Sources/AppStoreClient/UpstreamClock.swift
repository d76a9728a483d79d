package import Domain

/// The clocks of calls to Apple: the time of day, for Apple's absolute times and the record of attempts, and a monotonic
/// one, for deadlines and waits.
package struct UpstreamClock: Sendable {
    let now: WallClock
    let monotonicNow: @Sendable () -> ContinuousClock.Instant
    let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - now: the time of day.
    ///   - monotonicNow: what deadlines are measured by.
    ///   - sleep: waits by the same clock; throws when the task is cancelled.
    package init(
        now: @escaping WallClock,
        monotonicNow: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await ContinuousClock().sleep(for: $0) }
    ) {
        self.now = now
        self.monotonicNow = monotonicNow
        self.sleep = sleep
    }

    /// The time that is left until an instant; negative when it has passed.
    func remaining(until instant: ContinuousClock.Instant) -> Duration { monotonicNow().duration(to: instant) }
}
