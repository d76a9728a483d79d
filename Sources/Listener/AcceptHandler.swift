import Logging
import NIOCore
import Synchronization

/// Stops accepting while requests are answered on as many connections as there may be, and keeps the register of them.
///
/// It sits on the listening channel. What is not accepted waits in the kernel's queue, up to the backlog.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// From one look for room to the next.
    static let pause = TimeAmount.milliseconds(20)

    private let connections: OpenConnections
    private let fullLog: OccasionalWarning
    private let rest: AcceptRest
    /// Accepted when there was no room any more; at most as many as the channel reads at a time.
    private var waiting: [any Channel] = []
    private var isReadWanted = false
    /// Looks whether there is room; nil as long as nothing waits for it.
    private var nextLook: Scheduled<Void>?

    init(connections: OpenConnections, logger: Logger) {
        self.connections = connections
        fullLog = OccasionalWarning(logger)
        rest = AcceptRest(connections, logger)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        rest.accepted(context)
        waiting.append(unwrapInboundIn(data))
        goOn(context)
    }

    func read(context: ChannelHandlerContext) {
        isReadWanted = true
        goOn(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        for channel in waiting { channel.close(promise: nil) }
        waiting = []
        context.fireChannelInactive()
    }

    /// Lets in who waits and asks for the next, as far as there is room.
    private func goOn(_ context: ChannelHandlerContext) {
        nextLook?.cancel()
        nextLook = nil
        while let channel = waiting.first {
            guard connections.insert(channel) else { return lookAgain(context) }
            waiting.removeFirst()
            letIn(channel, context)
        }
        guard isReadWanted, !rest.isResting else { return }
        guard connections.hasRoom() else { return lookAgain(context) }
        isReadWanted = false
        context.read()
    }

    private func letIn(_ channel: any Channel, _ context: ChannelHandlerContext) {
        let mine = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { [connections] _ in
            connections.remove(channel)
            if mine.value.handler.nextLook != nil { mine.value.handler.goOn(mine.value.context) }
        }
        context.fireChannelRead(wrapInboundOut(channel))
    }

    /// A connection on which a request was answered makes room, and says so to nobody.
    private func lookAgain(_ context: ChannelHandlerContext) {
        fullLog.warn("New connections wait until a request is answered")
        nextLook = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            if context.channel.isActive { self.goOn(context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        rest.failed(error, context)
        context.fireErrorCaught(error)
    }
}

/// A warning that is worth one line a minute, however often there is reason for it.
final class OccasionalWarning: Sendable {
    private let logger: Logger
    /// When the next line may be logged, in nanoseconds of uptime.
    private let next = Atomic<UInt64>(0)

    init(_ logger: Logger) { self.logger = logger }

    func warn(_ message: Logger.Message, _ metadata: Logger.Metadata? = nil) {
        let now = NIODeadline.now().uptimeNanoseconds
        let due = next.load(ordering: .relaxed)
        guard now >= due else { return }
        let following = now + UInt64(TimeAmount.minutes(1).nanoseconds)
        guard next.compareExchange(expected: due, desired: following, ordering: .relaxed).exchanged else { return }
        logger.warning(message, metadata: metadata)
    }
}
