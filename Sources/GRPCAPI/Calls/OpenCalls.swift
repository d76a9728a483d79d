import NIOCore
import Synchronization

/// What a call knows of the connection that it came on.
package protocol GRPCConnection: Sendable {
    /// Says that a call has begun on it, of which not all has arrived.
    func callBegan()
    /// Says that the message of a call is there.
    func callArrived(_ kind: GRPCCallKind)
    /// Says that a call has ended on it; `kind`: nil where its message never was there.
    func callEnded(_ kind: GRPCCallKind?)
    /// Says how many bytes more, or less, of messages are held for it.
    ///
    /// - Returns: whether there is room for them; if not, the call is to be refused.
    func hold(bytes change: Int) -> Bool
    /// Runs the work on a message of so many bytes.
    func taskExecutor(ofBodyBytes count: Int) -> any TaskExecutor
}

/// What is done about a call.
package enum GRPCCallKind: Sendable {
    /// Work, that would be lost with the connection.
    case work
    /// It watches health: whoever asks, nothing is lost.
    case watch
}

/// A call from its head to its end, whatever becomes of its stream meanwhile.
final class OpenCall<Connection: GRPCConnection>: Sendable {
    private enum Phase {
        case going
        /// Nobody waits for the answer any more.
        case cancelled
    }

    private struct State {
        var phase = Phase.going
        var isDraining = false
        var onCancel: (@Sendable () -> Void)?
        var onDrain: (@Sendable () -> Void)?
    }

    /// Where it came from.
    let channel: any Channel
    let connection: Connection
    private let stream: any Channel
    private let state = Mutex(State())

    /// `channel`: the connection's; `stream`: the call's own.
    init(_ channel: any Channel, _ stream: any Channel, _ connection: Connection) {
        self.channel = channel
        self.stream = stream
        self.connection = connection
    }

    /// Has something done when nobody waits for the answer any more; at once, if nobody does.
    func whenCancelled(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            guard case .going = state.phase else { return true }
            state.onCancel = action
            return false
        }
        if isOver { action() }
    }

    /// Has something done when the listener is to close; at once, if it is.
    func whenDraining(_ action: @escaping @Sendable () -> Void) {
        let isDraining = state.withLock { state in
            if !state.isDraining { state.onDrain = action }
            return state.isDraining
        }
        if isDraining { action() }
    }

    var isDraining: Bool { state.withLock(\.isDraining) }

    func cancel() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            state.phase = .cancelled
            state.onDrain = nil
            return state.onCancel.take()
        }
        action?()
    }

    func drain() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            state.isDraining = true
            return state.onDrain.take()
        }
        action?()
    }

    /// Writes to the client, which may take so long for it and no longer.
    func writing<Result: Sendable>(
        within time: TimeAmount, _ body: () async throws -> Result
    ) async throws -> Result {
        let stream = stream
        let limit = stream.eventLoop.scheduleTask(in: time) { stream.close(promise: nil) }
        defer { limit.cancel() }
        return try await body()
    }
}

/// The calls under way, by the name under which the handler of a call finds the one that it is for.
///
/// The transport tells its handlers of a call, but not on which connection it came.
final class OpenCalls<Connection: GRPCConnection>: Sendable {
    /// The metadata by which they are told apart; whatever a client sends under this name is thrown away.
    static var metadataName: String { "purser-call" }

    private struct State {
        var latest: UInt64 = 0
        var calls: [String: OpenCall<Connection>] = [:]
    }

    private let state = Mutex(State())

    func begin(_ call: OpenCall<Connection>) -> String {
        state.withLock { state in
            state.latest += 1
            let name = String(state.latest)
            state.calls[name] = call
            return name
        }
    }

    func end(_ name: String) { state.withLock { $0.calls[name] = nil } }

    subscript(name: String) -> OpenCall<Connection>? { state.withLock { $0.calls[name] } }
}
