import Synchronization
import TestSupport

/// Whether a daemon serves at this moment, for those who wait for one.
final class DaemonLife: Sendable {
    private struct State {
        var service = OneTime<Void>()
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns when a daemon serves.
    ///
    /// - Throws: `CancellationError` when there will be none any more, `WaitedInVain`.
    func untilUp() async throws {
        try await state.withLock(\.service).value("a daemon that serves")
        if state.withLock(\.isOver) { throw CancellationError() }
    }

    func begin() { state.withLock(\.service).give(()) }

    /// The daemon is about to end, if one serves; whoever waits for one goes on waiting.
    func end() {
        state.withLock { state in
            if state.service.now != nil { state.service = OneTime() }
        }
    }

    /// There will be no daemon any more.
    func isOver() {
        state.withLock { $0.isOver = true }
        begin()
    }
}
