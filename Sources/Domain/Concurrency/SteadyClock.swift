package import Foundation
package import Logging
import Synchronization

/// The time of day by a clock that does not jump, and whether it can be relied upon.
///
/// It goes by the monotonic clock from a time of day that Apple has confirmed; the machine's wall clock is only a witness.
/// Before Apple's first answer, and after the wall clock has left the monotonic one, nobody can tell which of them is right:
/// the time is then in doubt, and what cannot be undone has to wait. The `Date` of any answer of Apple's ends the doubt: the
/// wall clock is right if it agrees with Apple, else Apple's time is taken.
///
/// `ContinuousClock` is `CLOCK_BOOTTIME` on Linux, so that a machine that slept wakes up at the right time. The kernel slews
/// both clocks alike, so that they part only where the wall clock was set, or the machine stood still without its knowledge.
/// Source: clock_gettime(2)
package final class SteadyClock: Sendable {
    /// By how much clocks may differ and still agree, in seconds: enough for answers on their way and leap seconds, and less
    /// than tokens are dated back.
    package static let tolerance: TimeInterval = 10

    /// How the clocks stand, for people.
    package struct Standing: Sendable, Equatable {
        package let isCertain: Bool
        /// How far the machine's clock is ahead of the time that we go by, in seconds; below zero behind it.
        package let machineLead: TimeInterval

        /// Whether the machine's clock tells the time that we go by.
        package var isMachineRight: Bool { abs(machineLead) <= SteadyClock.tolerance }
    }

    private struct State {
        /// What the time of day was at an instant; from there on the monotonic clock tells it.
        var base: (date: Date, instant: ContinuousClock.Instant)
        var isCertain = false
        /// How far the wall clock is ahead, as far as that is known: beyond the tolerance it is wrong, and has been so for
        /// as long as the time is certain.
        var wallLead: TimeInterval = 0

        func date(at instant: ContinuousClock.Instant) -> Date {
            base.date.addingTimeInterval(base.instant.duration(to: instant) / .seconds(1))
        }
    }

    private struct Reading {
        let wall: Date
        let instant: ContinuousClock.Instant
    }

    /// Tells when a doubt begins or ends.
    package let changes = ChangeSignal()
    private let wall: WallClock
    private let monotonicNow: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let state: Mutex<State>

    /// Begins in doubt, with the machine's word for the time.
    ///
    /// - Parameters:
    ///   - wall: the machine's time of day.
    ///   - monotonicNow: a clock that goes on while the machine sleeps.
    ///   - logger: is told when the clock is doubted, and what was decided.
    package init(
        wall: @escaping WallClock = { Date() },
        monotonicNow: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }, logger: Logger
    ) {
        self.wall = wall
        self.monotonicNow = monotonicNow
        self.logger = logger
        let reading = Self.read(wall, monotonicNow)
        state = Mutex(State(base: (reading.wall, reading.instant)))
    }

    /// The time of day, as well as it is known.
    package var now: Date { look { state, reading in state.date(at: reading.instant) } }

    /// Whether deadlines can be judged by `now`.
    package var isCertain: Bool { look { state, _ in state.isCertain } }

    package var standing: Standing {
        look { state, reading in
            Standing(
                isCertain: state.isCertain,
                machineLead: reading.wall.timeIntervalSince(state.date(at: reading.instant)))
        }
    }

    /// Takes Apple's word for the time.
    ///
    /// - Parameters:
    ///   - appleTime: when Apple says that it answered, to the second.
    ///   - span: from when Apple was asked to when the answer was here.
    package func decide(_ appleTime: Date, within span: ClosedRange<ContinuousClock.Instant>) {
        // Anything up to the end of that second, and up to as much later as the answer may have been on its way.
        let latest = appleTime.addingTimeInterval(1 + span.lowerBound.duration(to: span.upperBound) / .seconds(1))
        let possible =
            appleTime.addingTimeInterval(-Self.tolerance)...latest.addingTimeInterval(Self.tolerance)
        let (before, after, shift, lead) = look { state, reading in
            let before = state
            let steady = state.date(at: span.upperBound)
            let passed = span.upperBound.duration(to: reading.instant) / .seconds(1)
            let wall = reading.wall.addingTimeInterval(-passed)
            if !state.isCertain || !possible.contains(steady) {
                if possible.contains(wall) {
                    state.base = (wall, span.upperBound)
                } else if !possible.contains(steady) {
                    state.base = (appleTime, span.upperBound)
                }
                state.wallLead = wall.timeIntervalSince(state.date(at: span.upperBound))
                state.isCertain = true
            }
            return (before, state, state.date(at: span.upperBound).timeIntervalSince(steady), state.wallLead)
        }
        guard !before.isCertain || shift != 0 else { return }
        tell(before.isCertain, shift: shift, lead: lead)
        if after.isCertain { changes.send() }
    }

    private func tell(_ wasCertain: Bool, shift: TimeInterval, lead: TimeInterval) {
        let metadata: Logger.Metadata = [
            "machine_ahead_seconds": .stringConvertible(Int(lead.rounded())),
            "time_corrected_seconds": .stringConvertible(Int(shift.rounded())),
        ]
        if abs(lead) > Self.tolerance {
            logger.error(
                "The machine's clock is wrong: it differs from Apple's, by which we go from now on; it must be set",
                metadata: metadata)
        } else {
            logger.notice("Apple's clock confirms the machine's", metadata: metadata)
        }
    }

    /// Compares the clocks, and then uses them.
    private func look<Value: Sendable>(_ body: (inout State, Reading) -> Value) -> Value {
        // Under the lock, so that the comparison is with a base that is not newer than the reading.
        let (value, jump) = state.withLock { state in
            let reading = Self.read(wall, monotonicNow)
            var jump: TimeInterval?
            if state.isCertain {
                let lead = reading.wall.timeIntervalSince(state.date(at: reading.instant))
                if abs(lead - state.wallLead) > Self.tolerance {
                    state.isCertain = false
                    jump = lead - state.wallLead
                }
            }
            return (body(&state, reading), jump)
        }
        if let jump {
            logger.warning(
                "The machine's clock has jumped; nothing is sent or ends by a deadline until Apple tells the time",
                metadata: ["seconds": .stringConvertible(Int(jump.rounded()))])
            changes.send()
        }
        return value
    }

    /// Reads both clocks at the same moment: again when the task was held up in between.
    private static func read(
        _ wall: WallClock, _ monotonicNow: @Sendable () -> ContinuousClock.Instant
    ) -> Reading {
        var before = monotonicNow()
        var date = wall()
        var after = monotonicNow()
        var tries = 0
        while before.duration(to: after) > .seconds(1), tries < 5 {
            (before, date, after) = (after, wall(), monotonicNow())
            tries += 1
        }
        return Reading(wall: date, instant: after)
    }
}
