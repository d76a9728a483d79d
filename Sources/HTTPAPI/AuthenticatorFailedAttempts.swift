import NIOCore
import Synchronization

/// Counts failed attempts by source address, so that guessing is slow.
///
/// Key: the peer's IP address. Window: one minute. Bound: `maximumSources` addresses; when they are full, the window starts
/// anew for all.
final class FailedAttempts: Sendable {
    static let allowedPerWindow = 30
    static let window = Duration.seconds(60)
    static let maximumSources = 10_000

    private struct State {
        var started: ContinuousClock.Instant
        var counts: [String: Int] = [:]
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.now = now
        state = Mutex(State(started: now()))
    }

    /// Notes one failure of a connection's peer.
    ///
    /// - Returns: how long the source has to wait, if it has used up its attempts.
    func noteFailure(of channel: any Channel) -> Duration? {
        noteFailure(from: channel.remoteAddress?.ipAddress ?? "unix")
    }

    private func noteFailure(from source: String) -> Duration? {
        let instant = now()
        return state.withLock { state in
            if state.started + Self.window <= instant || state.counts.count >= Self.maximumSources {
                state = State(started: instant)
            }
            let count = state.counts[source, default: 0] + 1
            state.counts[source] = count
            return count > Self.allowedPerWindow ? instant.duration(to: state.started + Self.window) : nil
        }
    }
}
