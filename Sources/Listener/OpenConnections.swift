import Logging
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

    /// Ends the connections of this moment as soon as no request is under way on each; others come after them.
    ///
    /// One that is still being set up is among them if it has handlers when its event loop comes to it; otherwise it is as
    /// good as new.
    func drainOpen() {
        for channel in state.withLock({ Array($0.channels.values) }) {
            channel.eventLoop.execute { Self.pass(.drain, to: channel) }
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

/// Stops accepting while the listener has as many connections as it may have, and keeps the register of them.
///
/// It sits on the listening channel. What is not accepted waits in the kernel's queue, so nobody is shed.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    private let connections: OpenConnections
    private let maximumConnections: Int
    private let logger: Logger
    private var isHeldBack = false

    /// A listener that is full can fill and empty with each connection, which is worth one line a minute.
    private var nextWarning = NIODeadline.uptimeNanoseconds(0)

    init(connections: OpenConnections, maximumConnections: Int, logger: Logger) {
        self.connections = connections
        self.maximumConnections = maximumConnections
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        connections.insert(channel)
        let mine = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { [connections] _ in
            connections.remove(channel)
            mine.value.handler.acceptAgain(mine.value.context)
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard connections.count >= maximumConnections else { return context.read() }
        isHeldBack = true
        guard context.eventLoop.now >= nextWarning else { return }
        nextWarning = context.eventLoop.now + .minutes(1)
        logger.warning("New connections wait until one closes", metadata: ["limit": "\(maximumConnections)"])
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Such as no file descriptors left; NIO tries again after a pause.
        logger.warning("Cannot accept a connection", metadata: ["reason": "\(error)"])
        context.fireErrorCaught(error)
    }

    private func acceptAgain(_ context: ChannelHandlerContext) {
        guard isHeldBack else { return }
        isHeldBack = false
        context.read()
    }
}
