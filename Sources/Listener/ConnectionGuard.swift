import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Holds one HTTP/1.1 connection to the listener's limits and ends it in an orderly way.
///
/// It stands between the HTTP codec and HummingbirdCore's handlers. Requests over a limit it answers itself, in their
/// turn among the others; everything else passes.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    enum Phase {
        /// Requests pass to their responder.
        case serving

        /// A request is refused, and its answer waits for those to earlier requests.
        ///
        /// `replacing` says that the request had passed to its responder in part, whose own answer is dropped.
        case refusing(Refusal, replacing: Bool)

        /// Nothing more is read or answered.
        case ended
    }

    let configuration: ListenerConfiguration
    let logger: Logger
    var phase = Phase.serving
    var pipeline = PipelineState()

    /// Whether no request after the one that was last begun is served.
    var isLastRequest = false
    var isDraining = false

    var ending = Ending()
    var deadline = Deadline()
    let presence = ClientPresence()
    let slot: ConnectionSlot
    let answerOverload: OverloadAnswer

    /// Whether the request whose parts arrive has been answered already, because there was no place for it.
    var isTurningAway = false

    init(
        configuration: ListenerConfiguration, limiter: RequestLimiter,
        answeringOverload answerOverload: @escaping OverloadAnswer, logger: Logger
    ) {
        self.configuration = configuration
        self.answerOverload = answerOverload
        self.logger = logger
        slot = ConnectionSlot(limiter: limiter)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        deadline.sawPart = true
        guard case .serving = phase, pipeline.isReadingRequest || !isLastRequest else { return }
        switch unwrapInboundIn(data) {
        case .head(let request): requestBegins(request, context)
        case .body(let bytes):
            pipeline.bodyArrives(bytes.readableBytes)
            guard pipeline.bodyBytes <= configuration.maximumBodyBytes else { return refuse(.bodyTooLarge, context) }
            if !isTurningAway { context.fireChannelRead(data) }
        case .end:
            pipeline.requestEnds()
            // The next request, of which a part may be there already, has a time of its own.
            deadline.wait = .responder
            if !isTurningAway { context.fireChannelRead(data) }
            isTurningAway = false
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .ended = phase {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var response) where response.status.kind != .informational:
            pipeline.responseBegins()
            if pipeline.pendingResponses == 1 {
                isLastRequest = isLastRequest || isDraining
                if isLastRequest { response.headerFields[.connection] = "close" }
            }
            context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .head, .body: context.write(data, promise: promise)
        case .end:
            pipeline.responseEnds()
            if pipeline.pendingResponses <= 0 { slot.giveBack() }
            writeLastPart(data, context, promise)
            answerRefusalInItsTurn(context)
            if case .serving = phase, isLastRequest, pipeline.pendingResponses == 0 {
                // A client that does not know of the shutdown may be sending its next request.
                end(context, lingering: pipeline.isReadingRequest || isDraining)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .serving = phase else { return }
        switch error {
        case HTTPParserError.invalidEOFState:
            // Without this error the responder would take the part of a body that has arrived for the whole.
            if pipeline.isReadingRequest { context.fireErrorCaught(error) }
        case HTTPParserError.headerOverflow: refuse(.headerTooLarge, context)
        case HTTPParserError.invalidVersion: refuse(.unknownVersion, context)
        case is HTTPParserError, is HTTP1TypeConversionError: refuse(.malformed, context)
        default: context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ConnectionAbortEvent:
            phase = .ended
            context.close(promise: nil)
        case is ChannelShouldQuiesceEvent:
            // The next handler closes the connection when nothing is under way on it.
            isDraining = true
            context.fireUserInboundEventTriggered(event)
        case ChannelEvent.inputClosed:
            presence.end()
            peerHasFinished(context)
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func requestBegins(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
        deadline.hasPartialHead = false
        let declaredBytes = request.headerFields[.contentLength].flatMap(Int.init) ?? 0
        guard declaredBytes <= configuration.maximumBodyBytes else { return refuse(.bodyTooLarge, context) }
        pipeline.requestBegins()
        isLastRequest = request.isLastOnItsConnection
        guard slot.take() else { return shed(request, context) }
        if request.headerFields[.expect]?.lowercased() == "100-continue", pipeline.pendingResponses == 1 {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(.head(request)))
    }

    /// Stops serving the connection, and answers the request that is at fault in its turn.
    func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        guard case .serving = phase else { return }
        logger.debug("Refused a request", metadata: ["status": "\(refusal.status.code)"])
        let replacing = pipeline.isReadingRequest
        phase = .refusing(refusal, replacing: replacing)
        // Whoever reads this request's body must not wait for the rest of it.
        if replacing { context.fireErrorCaught(refusal) }
        answerRefusalInItsTurn(context)
        updateDeadline(context)
    }

    private func answerRefusalInItsTurn(_ context: ChannelHandlerContext) {
        guard case .refusing(let refusal, let replacing) = phase else { return }
        let pendingBefore = pipeline.pendingResponses - (replacing ? 1 : 0)
        guard pendingBefore <= 0 else { return }
        if replacing && pipeline.isWritingResponse {
            // Half of its own answer is out: only the end of the connection can tell the client that it is not whole.
            phase = .ended
            return context.close(promise: nil)
        }
        // Below zero its responder has answered it to the end already.
        if pendingBefore == 0 {
            context.write(wrapOutboundOut(.head(refusal.head)), promise: nil)
            context.write(wrapOutboundOut(.body(refusal.body)), promise: nil)
            writeLastPart(wrapOutboundOut(.end(nil)), context, nil)
        }
        end(context, lingering: true)
    }
}

extension HTTPRequest {
    /// Whether nothing after this request can be served on its connection.
    ///
    /// Besides a client that says so, this is a request to go on in another protocol: NIO's decoder stops reading HTTP
    /// after one, though nothing here ever switches. HTTP clients that offer HTTP/2 on a plain connection send it.
    fileprivate var isLastOnItsConnection: Bool {
        let options = headerFields[.connection]?.lowercased().split(separator: ",").map {
            $0.drop { $0 == " " }.prefix { $0 != " " }
        }
        return options?.contains("close") == true || headerFields[.upgrade] != nil || method == .connect
    }
}
