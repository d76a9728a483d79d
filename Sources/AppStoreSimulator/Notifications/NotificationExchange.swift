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

/// How one exchange with a notification's receiver ended.
enum NotificationAnswer: Sendable, Equatable {
    case result(SendAttemptResult)
    /// The receiver wants it elsewhere: the `Location` header.
    case redirection(String)
}

extension NotificationAnswer {
    /// The statuses by which a receiver confirms a notification.
    private static let confirmations = 200...206
    /// Redirections that repeat the request as it is.
    private static let redirections: Set<Int> = [301, 302, 307, 308]
    /// Character sets in which an answer may be.
    private static let characterSets: Set<String> = [
        "utf-8", "us-ascii", "iso-8859-1", "utf-16", "utf-16be", "utf-16le", "windows-1252",
    ]

    /// Judges a response by its status and headers.
    init(_ head: HTTPResponseHead) {
        let status = Int(head.status.code)
        if Self.redirections.contains(status) {
            self = head.headers.first(name: "Location").map { .redirection($0) } ?? .result(.invalidResponse)
        } else if !Self.confirmations.contains(status) {
            self = .result(.unsuccessfulHTTPResponseCode)
        } else if let name = Self.characterSet(head.headers), !Self.characterSets.contains(name) {
            self = .result(.unsupportedCharset)
        } else {
            self = .result(.success)
        }
    }

    private static func characterSet(_ headers: HTTPHeaders) -> String? {
        let parameters = headers.first(name: "Content-Type")?.lowercased().split(separator: ";").dropFirst() ?? []
        for parameter in parameters {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { !" \t\"".contains($0) } }
            if parts.count == 2, parts[0] == "charset" { return parts[1] }
        }
        return nil
    }
}
