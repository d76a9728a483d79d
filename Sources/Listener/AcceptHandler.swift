import Logging
import NIOCore

/// Stops accepting while the listener has as many connections as it may have, and keeps the register of them.
///
/// It sits on the listening channel. What is not accepted waits in the kernel's queue, so nobody is turned away.
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
