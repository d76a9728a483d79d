import Synchronization

/// Whether the client of a connection still waits for its answer.
///
/// A client that has said that it sends no more counts as gone, because TCP does not tell it from one that has closed:
/// most clients never do one without the other. What was begun for it is cancelled; an answer that exists is still sent.
final class ClientPresence: Sendable {
    private struct State {
        var isGone = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    /// The client of the connection that the current task serves.
    @TaskLocal static var current: ClientPresence?

    private let state = Mutex(State())

    /// Notes that the client is gone; for good.
    func end() {
        state.withLock { state in
            state.isGone = true
            return state.waiting.take()
        }?.resume()
    }

    /// Returns when the client is gone or the task is cancelled; one task may wait at a time.
    private func untilGone() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isGone, !Task.isCancelled else { return true }
                    state.waiting = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.take() }?.resume()
        }
    }

    /// Runs a body that is cancelled when the client goes away.
    static func cancelWhenGone<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) async -> Result {
        guard let presence = current else { return await body() }
        return await withTaskGroup { group in
            group.addTask { Optional(await body()) }
            group.addTask {
                await presence.untilGone()
                return nil
            }
            // Whichever ends first ends the other.
            for await result in group {
                group.cancelAll()
                if let result { return result }
            }
            preconditionFailure("a body that returns has returned something")
        }
    }
}
