package import Foundation

/// The clocks of our own work: the time of day, for rows and Apple's deadlines, and a monotonic one, for waits.
package struct ServiceClock: Sendable {
    package let now: WallClock
    package let monotonicNow: @Sendable () -> ContinuousClock.Instant
    package let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - now: the time of day.
    ///   - monotonicNow: what waits are measured by.
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

    /// The time that is left until a time of day; negative when it has passed.
    package func remaining(until date: Date) -> Duration { .seconds(date.timeIntervalSince(now())) }

    /// The time that is left until an instant; negative when it has passed.
    package func remaining(until instant: ContinuousClock.Instant) -> Duration {
        monotonicNow().duration(to: instant)
    }
}

/// The time of day, for claims, rows and answers.
///
/// Durations and deadlines never come from it: they use a monotonic clock.
package typealias WallClock = @Sendable () -> Date
