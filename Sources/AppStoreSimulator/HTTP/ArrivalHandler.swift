import NIOCore

/// Tells an ``ArrivalLog`` of every part of a request as it comes out of the socket, before it waits for anybody to look at it.
///
/// Lives on the event loop of its channel: the connection in HTTP/1.1, a stream of it in HTTP/2.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let log: ArrivalLog

    init(_ log: ArrivalLog) { self.log = log }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        log.note(context.channel)
        context.fireChannelRead(data)
    }
}
