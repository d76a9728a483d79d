import AppStoreAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One request with a notification and what comes back for it, on a connection of its own.
///
/// Lives on the event loop of its channel.
final class NotificationExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The most of a response's body that is waited for, in bytes; nothing of it matters.
    private static let longestBody = 1_048_576

    private let url: NotificationURL
    private let body: [UInt8]
    private let timeout: TimeAmount
    private let answer: EventLoopPromise<NotificationAnswer>
    private var alarm: Scheduled<Void>?
    private var head: HTTPResponseHead?
    private var bodyCount = 0
    private var isFinished = false

    /// - Parameters:
    ///   - body: the JSON to post.
    ///   - url: where to post it; the connection is there already, or on its way.
    ///   - timeout: from now to the end of the response.
    ///   - answer: fulfilled once, in whatever way the exchange ends.
    init(
        posting body: [UInt8], to url: NotificationURL, timeout: TimeAmount,
        answer: EventLoopPromise<NotificationAnswer>
    ) {
        self.url = url
        self.body = body
        self.timeout = timeout
        self.answer = answer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        alarm = context.eventLoop.scheduleTask(in: timeout) {
            let (handler, context) = bound.value
            handler.finish(.result(.timedOut), context)
        }
        if context.channel.isActive { post(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        post(context)
        context.fireChannelActive()
    }

    private func post(_ context: ChannelHandlerContext) {
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.target)
        head.headers = [
            "Host": url.authority, "Content-Type": "application/json", "Content-Length": String(body.count),
            "Accept": "*/*", "User-Agent": "AppStoreServerNotifications/2.0", "Connection": "close",
        ]
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
        case .body(let part):
            bodyCount += part.readableBytes
            if bodyCount > Self.longestBody, let head { finish(NotificationAnswer(head), context) }
        case .end:
            if let head { finish(NotificationAnswer(head), context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(.result(result(of: error)), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.result(head == nil ? .noResponse : .prematureClose), context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.result(head == nil ? .noResponse : .prematureClose), context)
    }

    /// What Apple calls a failure of the connection.
    private func result(of error: any Error) -> SendAttemptResult {
        switch error {
        case HTTPParserError.invalidEOFState: head == nil ? .noResponse : .prematureClose
        case is HTTPParserError: .invalidResponse
        case NIOSSLError.uncleanShutdown where head != nil: .prematureClose
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .tlsIssue
        case is IOError: head == nil ? .socketIssue : .prematureClose
        default: .other
        }
    }

    private func finish(_ answer: NotificationAnswer, _ context: ChannelHandlerContext) {
        guard !isFinished else { return }
        isFinished = true
        alarm?.cancel()
        self.answer.succeed(answer)
        context.close(promise: nil)
    }
}
