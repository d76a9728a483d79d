import Synchronization

/// Knows whether a loop is held up by the store right now, and tells a watchdog when the loop next turns.
///
/// A store that hangs is no fault of the loop, so that whoever asks then is answered at once.
final class LoopHeartbeat: Sendable {
    private struct State {
        var isRunning = false
        var isInStore = false
        /// Emptied by every turn; a watchdog asks again only after an answer, so these are few.
        var waiting: [AsyncStream<Void>.Continuation] = []

        mutating func turn() -> [AsyncStream<Void>.Continuation] {
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = Mutex(State())

    /// Marks a question to the store, or work that waits for one.
    func inStore<Value, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        turned(isInStore: true)
        defer { state.withLock { $0.isInStore = false } }
        return try await work()
    }

    /// Says that the loop turns at this moment.
    func turned(isInStore: Bool = false) {
        let waiting = state.withLock { state in
            state.isRunning = true
            state.isInStore = isInStore
            return state.turn()
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Says that the loop has ended.
    func ended() {
        let waiting = state.withLock { state in
            state.isRunning = false
            return state.turn()
        }
        for continuation in waiting { continuation.finish() }
    }

    /// A stream without elements that ends when the loop turns; nil when it is in the store, or does not run.
    func nextTurn() -> AsyncStream<Void>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(0))
        return state.withLock { state in
            guard state.isRunning, !state.isInStore else { return nil }
            state.waiting.append(continuation)
            return stream
        }
    }
}
