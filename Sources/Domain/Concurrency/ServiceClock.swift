package import Foundation

/// The clocks of our own work: the time of day, for rows and Apple's deadlines, and a monotonic one, for waits.
///
/// Here time comes in, and here it is rounded, once: every time of day in our work is a whole millisecond, so that what is
/// answered, what is kept and what is read again are equal.
package struct ServiceClock: Sendable {
    /// The time of day, in whole milliseconds.
    package let now: WallClock
    package let monotonicNow: @Sendable () -> ContinuousClock.Instant
    package let sleep: @Sendable (Duration) async throws -> Void
    /// What stands behind `now` where the machine's clock is not believed without Apple's; nil where it is.
    package let steady: SteadyClock?

    /// Clocks that are believed.
    ///
    /// - Parameters:
    ///   - now: the time of day, as exact as it may be.
    ///   - monotonicNow: what waits are measured by.
    ///   - sleep: waits by the same clock; throws when the task is cancelled.
    package init(
        now: @escaping WallClock,
        monotonicNow: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await ContinuousClock().sleep(for: $0) }
    ) {
        self.now = { now().roundedToMilliseconds }
        self.monotonicNow = monotonicNow
        self.sleep = sleep
        steady = nil
    }

    /// Clocks of which the time of day may be in doubt; `monotonicNow` and `sleep` as above.
    package init(
        _ steady: SteadyClock,
        monotonicNow: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await ContinuousClock().sleep(for: $0) }
    ) {
        now = { steady.now.roundedToMilliseconds }
        self.monotonicNow = monotonicNow
        self.sleep = sleep
        self.steady = steady
    }

    /// Whether what cannot be undone may be decided by `now`: not while the time of day is in doubt.
    ///
    /// To be asked after `now`, so that a doubt that came with it is known.
    package var isCertain: Bool { steady?.isCertain ?? true }

    /// When something comes in that Apple has signed: while the time is in doubt Apple's date stands alone.
    package func receipt(signedAt: Date?) -> Date {
        let now = now()
        return isCertain ? now : signedAt ?? now
    }

    /// Whether a deadline has passed for certain.
    package func hasPassed(_ deadline: Date) -> Bool {
        let now = now()
        return isCertain && deadline <= now
    }

    /// Returns when the time of day is certain, or the task is cancelled.
    package func whenCertain() async {
        while !isCertain {
            guard (try? await sleep(.milliseconds(200))) != nil else { return }
        }
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

// Times of day are whole UNIX milliseconds: those of Apple, those of our rows and those of our answers.

extension Date {
    /// The time so many milliseconds after 1970; equal numbers are equal times.
    package init(milliseconds: Int64) { self.init(timeIntervalSince1970: TimeInterval(milliseconds) / 1000) }

    /// The nearest millisecond since 1970.
    package var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    /// The nearest whole millisecond.
    package var roundedToMilliseconds: Date { Date(milliseconds: milliseconds) }

    /// The whole millisecond nearest to so much later.
    package func advanced(by duration: Duration) -> Date {
        addingTimeInterval(duration / .seconds(1)).roundedToMilliseconds
    }
}
