import Synchronization

extension LoopbackServer {
    /// What has come in from all connections, and the handlers at work on it.
    final class Record: Sendable {
        private struct State {
            var requests: [Request] = []
            var handlers: [Task<Response, any Error>] = []
            var isEnding = false
        }

        private let state = Mutex(State())

        var requests: [Request] { state.withLock { $0.requests } }

        /// Notes a request and has it answered, in a task that the end of the server cancels.
        func answer(_ request: Request, by handler: @escaping Handler) -> Task<Response, any Error> {
            state.withLock { state in
                let task = Task { try await handler(request) }
                if state.isEnding { task.cancel() }
                state.requests.append(request)
                state.handlers.append(task)
                return task
            }
        }

        /// Cancels the handlers at work and all to come.
        func cancelHandlers() {
            state.withLock { state in
                state.isEnding = true
                state.handlers.forEach { $0.cancel() }
            }
        }
    }
}
