import NIOCore
import Synchronization

/// The open connections of one listener, and the one order that reaches all of them.
final class OpenConnections: Sendable {
    /// How the connections are to end.
    enum Order: Sendable {
        /// Each as soon as no request is under way on it.
        case drain

        /// All at once.
        case abort
    }

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var order: Order?
        var isAccepting = true
    }

    private let state = Mutex(State())
    private let whenOver: @Sendable () -> Void

    /// Makes the register.
    ///
    /// - Parameter whenOver: called once, when nothing is accepted any more and the last connection has closed.
    init(whenOver: @escaping @Sendable () -> Void) {
        self.whenOver = whenOver
    }

    /// The order that was given, if any.
    var order: Order? { state.withLock { $0.order } }

    /// How many connections are open.
    var count: Int { state.withLock { $0.channels.count } }

    func insert(_ channel: any Channel) {
        state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
    }

    func remove(_ channel: any Channel) {
        change { $0.channels[ObjectIdentifier(channel)] = nil }
    }

    /// Says that the listening socket is closed.
    func acceptingHasEnded() {
        change { $0.isAccepting = false }
    }

    /// Gives an order to all connections, also to those that are still being set up, which ask for ``order`` then.
    func give(_ order: Order) {
        let channels = state.withLock { state in
            state.order = order
            return Array(state.channels.values)
        }
        for channel in channels {
            channel.eventLoop.execute { Self.pass(order, to: channel) }
        }
    }

    /// Passes an order to one connection whose handlers are in place; called on its event loop.
    static func pass(_ order: Order, to channel: any Channel) {
        switch order {
        case .drain: channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        case .abort: channel.pipeline.fireUserInboundEventTriggered(ConnectionAbortEvent())
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let isOver = state.withLock { state in
            let wasOver = !state.isAccepting && state.channels.isEmpty
            body(&state)
            return !wasOver && !state.isAccepting && state.channels.isEmpty
        }
        if isOver { whenOver() }
    }
}

/// Tells the handlers of a connection that it is to close at once, whatever is under way.
struct ConnectionAbortEvent: Sendable {}
