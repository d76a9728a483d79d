import Synchronization

/// Until when a call may go on: later than at first once somebody with more time waits for it too.
final class CallDeadline: Sendable {
    private let latest: Mutex<ContinuousClock.Instant>

    init(_ instant: ContinuousClock.Instant) { latest = Mutex(instant) }

    /// No attempt starts and no wait lasts beyond this.
    var instant: ContinuousClock.Instant { latest.withLock(\.self) }

    /// Moves the deadline, never to an earlier instant.
    func extend(to instant: ContinuousClock.Instant) { latest.withLock { $0 = max($0, instant) } }
}
