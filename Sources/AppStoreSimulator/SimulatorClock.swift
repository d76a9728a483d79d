package import Foundation
import Synchronization

/// What time it is in the simulation: real time at first, which can be made to run faster, and be put forward.
///
/// All that the simulator dates goes by it. What callers date does not: their tokens are judged by real time.
package final class SimulatorClock: Sendable {
    /// The fastest that the clock can run: a day in a second.
    package static let largestScale: Double = 86_400
    /// The farthest that the clock can be put forward at a time, in seconds: ten years.
    package static let longestAdvance: TimeInterval = 10 * 365 * 86_400
    /// The longest that is slept before looking at the clock again, in seconds of real time: a day.
    private static let longestNap: TimeInterval = 86_400
    /// The shortest, so that a real time that stands still is not asked without end.
    private static let shortestNap: TimeInterval = 0.001

    private struct Setting {
        /// A moment in both times.
        var real: Date
        var simulated: Date
        var scale = 1.0
        /// Those who sleep, woken by a change of the clock.
        var naps: [Int: Task<Void, Never>] = [:]
        var lastNap = 0

        func time(at real: Date) -> Date { simulated + real.timeIntervalSince(self.real) * scale }
    }

    private let setting: Mutex<Setting>
    private let realTime: @Sendable () -> Date

    /// A clock that agrees with real time.
    package init(realTime: @escaping @Sendable () -> Date = { Date() }) {
        self.realTime = realTime
        let start = realTime()
        setting = Mutex(Setting(real: start, simulated: start))
    }

    /// The simulated time.
    package var now: Date {
        // Read under the lock: a time read before somebody else's change would go back.
        setting.withLock { $0.time(at: realTime()) }
    }

    /// The simulated time, UNIX milliseconds.
    package var milliseconds: Int64 { now.unixMilliseconds }

    /// Simulated seconds in a real one; 0 stands still.
    package var scale: Double { setting.withLock { $0.scale } }

    /// Makes the clock run faster or slower from now on.
    ///
    /// - Throws: ``ControlError/invalid(_:)`` unless the scale is 0 to ``largestScale``.
    package func setScale(_ scale: Double) throws(ControlError) {
        guard 0...Self.largestScale ~= scale else {
            throw .invalid("scale must be 0 to \(Int(Self.largestScale))")
        }
        change { $0.scale = scale }
    }

    /// Puts the clock forward.
    ///
    /// - Throws: ``ControlError/invalid(_:)`` unless it is 0 seconds to ``longestAdvance``.
    package func advance(by seconds: TimeInterval) throws(ControlError) {
        guard 0...Self.longestAdvance ~= seconds else {
            throw .invalid("the clock can be put forward by 0 to \(Int(Self.longestAdvance)) seconds")
        }
        change { $0.simulated += seconds }
    }

    /// Sets the clock to a later time.
    ///
    /// - Throws: ``ControlError/conflict(_:)`` for a time that has passed, since what was dated later cannot be undone, and
    ///   ``ControlError/invalid(_:)`` for one that is too far away.
    package func set(_ time: Date) throws(ControlError) {
        let seconds = time.timeIntervalSince(now)
        guard seconds >= 0 else { throw .conflict("the clock cannot be put back") }
        try advance(by: seconds)
    }

    /// Agrees with real time again, which may put it back.
    func reset() {
        change { setting in
            setting.simulated = setting.real
            setting.scale = 1
        }
    }

    /// Waits until a simulated time, however it comes.
    ///
    /// - Throws: `CancellationError`
    package func sleep(until date: Date) async throws {
        while let (id, nap) = startNap(until: date) {
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
            setting.withLock { $0.naps[id] = nil }
            try Task.checkCancellation()
        }
    }

    /// Sleeps for as long as it takes if nobody touches the clock; nil when there is nothing to wait for.
    private func startNap(until date: Date) -> (Int, Task<Void, Never>)? {
        setting.withLock { setting in
            let left = date.timeIntervalSince(setting.time(at: realTime()))
            guard left > 0 else { return nil }
            let length = setting.scale > 0 ? left / setting.scale : Self.longestNap
            let seconds = min(max(length, Self.shortestNap), Self.longestNap)
            // Ends early when the clock is changed, which is no failure.
            let nap = Task { _ = try? await Task.sleep(for: .seconds(seconds)) }
            setting.lastNap += 1
            setting.naps[setting.lastNap] = nap
            return (setting.lastNap, nap)
        }
    }

    private func change(_ change: (inout Setting) -> Void) {
        setting.withLock { setting in
            let real = realTime()
            setting.simulated = setting.time(at: real)
            setting.real = real
            change(&setting)
            for nap in setting.naps.values { nap.cancel() }
            setting.naps = [:]
        }
    }
}

extension Date {
    /// Milliseconds since 1970, rounded down but for what a floating-point number loses.
    var unixMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1000 + 0.001).rounded(.down)) }
}
