import Synchronization

/// Whether the client of a connection still waits for its answer.
///
/// A client that has said that it sends no more counts as gone, because TCP does not tell it from one that has closed:
/// most clients never do one without the other. What was begun for it is cancelled; an answer that exists is still sent.
final class ClientPresence: Sendable {
    private struct State {
        var isGone = false
        /// Ends what is being done for the client.
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Notes that the client is gone; for good.
    func end() {
        state.withLock { state in
            state.isGone = true
            return state.cancel.take()
        }?()
    }

    /// Runs a body that is cancelled when the client goes away; one at a time.
    ///
    /// - Parameters:
    ///   - presence: the client's; nil when nobody can tell.
    ///   - body: runs in a task of its own, because an answer that exists is still sent by this one.
    /// - Returns: what the body returns.
    static func cancelWhenGone<Result: Sendable>(
        _ presence: ClientPresence?, _ body: @escaping @Sendable () async -> Result
    ) async -> Result {
        guard let presence else { return await body() }
        // Begins at once and on this thread: most requests need no other.
        let work = Task.immediate { await body() }
        presence.whenGone { work.cancel() }
        defer { presence.whenGone(nil) }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
    }

    private func whenGone(_ cancel: (@Sendable () -> Void)?) {
        let isGone = state.withLock { state in
            state.cancel = state.isGone ? nil : cancel
            return state.isGone
        }
        if isGone { cancel?() }
    }
}
