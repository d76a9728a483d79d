import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Holds one HTTP/1.1 connection to the listener's limits and ends it in an orderly way.
///
/// It stands between the HTTP codec and HummingbirdCore's handlers. A request passes when it is whole: until then it takes
/// nobody's place and nobody's work. Requests over a limit it answers itself, in their turn among the others.
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
        /// `hasBegun` says that the request counts among those that wait for an answer.
        case refusing(Refusal, hasBegun: Bool)

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
    /// Where requests wait that the client has sent ahead; before the HTTP decoder.
    let pipelined = PipelinedRequests()
    let slot: ConnectionSlot
    let answerOverload: OverloadAnswer

    /// A request of which the body has not arrived whole.
    private struct HeldRequest {
        let head: HTTPRequest
        var body: ByteBuffer?
    }

    private var held: HeldRequest?
    private let connections: OpenConnections
    /// Set once the connection is open.
    private var record: ConnectionRecord?

    init(
        configuration: ListenerConfiguration, connections: OpenConnections, limiter: RequestLimiter,
        answeringOverload answerOverload: @escaping OverloadAnswer, logger: Logger
    ) {
        self.configuration = configuration
        self.connections = connections
        self.answerOverload = answerOverload
        self.logger = logger
        slot = ConnectionSlot(limiter: limiter)
    }

    /// Adds what stands before it, around the HTTP codec, once that and it are in place.
    func addHandlersBefore(in pipeline: ChannelPipeline.SynchronousOperations) throws {
        try pipeline.addHandler(
            pipelined, position: .before(pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)))
        try pipeline.addHandler(
            RequestForm(), position: .before(pipeline.handler(type: HTTP1ToHTTPServerCodec.self)))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        deadline.sawPart = true
        guard case .serving = phase, pipeline.isReadingRequest || !isLastRequest else { return }
        switch unwrapInboundIn(data) {
        case .head(let request): requestBegins(request, context)
        case .body(let bytes): bodyArrives(bytes, context)
        case .end(let trailers): requestEnds(trailers, context)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { record = connections.record(of: context.channel) }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .ended = phase {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var response) where response.status.kind != .informational:
            if pipeline.pendingResponses == 1 {
                isLastRequest = isLastRequest || mayBeLast
                if isLastRequest { response.headerFields[.connection] = "close" }
            }
            context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .head, .body: context.write(data, promise: promise)
        case .end:
            pipeline.responseEnds()
            writeLastPart(data, context, promise)
            if pipeline.wholePending == 0 {
                slot.giveBack()
                turnToRest(context)
                giveLeaveToSend(context)
            }
            answerRefusalInItsTurn(context)
            if case .serving = phase, isLastRequest, pipeline.pendingResponses == 0 {
                // A client that does not know of the shutdown may be sending its next request, or has sent some ahead.
                end(context, lingering: pipeline.isReadingRequest || mayBeLast || !pipelined.isEmpty)
            }
        }
    }

    /// Whether the client may not know yet that its connection ends with the next answer.
    private var mayBeLast: Bool { isDraining || connections.isLeaving }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .serving = phase else { return }
        switch error {
        case HTTPParserError.invalidEOFState:
            // What has arrived of a request is not the whole, and nobody has seen it.
            if pipeline.isReadingRequest { refuse(.malformed, context) }
        case HTTPParserError.headerOverflow: refuse(.headerTooLarge, context)
        case HTTPParserError.invalidVersion: refuse(.unknownVersion, context)
        case RequestFault.characters(let field): refuse(.characters(of: field), context)
        case is HTTPParserError, is HTTP1TypeConversionError, is RequestFault: refuse(.malformed, context)
        default: context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ConnectionAbortEvent: abort(context)
        case is ConnectionEvictionEvent:
            if pipeline.wholePending == 0 { abort(context) } else { record?.isLeaving = false }
        case is ChannelShouldQuiesceEvent:
            isDraining = true
            guard pipeline.hasBegun || configuration.lastRequestTimeout == .zero else {
                // Its first request is its last.
                deadline.since = context.eventLoop.now
                return updateDeadline(context)
            }
            // The next handler closes the connection when nothing is under way on it.
            context.fireUserInboundEventTriggered(event)
        case ChannelEvent.inputClosed:
            peerHasFinished(context)
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func abort(_ context: ChannelHandlerContext) {
        phase = .ended
        forget()
        context.close(promise: nil)
    }

    /// Gives back what the connection holds of a body; called when nothing more comes of it.
    func forget() {
        held = nil
        noteHeldBytes()
    }

    /// Notes how many bytes are held for the client.
    func noteHeldBytes() {
        let bytes = (held == nil ? 0 : pipeline.bodyBytes) + ending.unwrittenBytes
        if let record { connections.hold(bytes: bytes, record) }
    }

    /// Notes what the connection is about when no work is done on it.
    func turnToRest(_ context: ChannelHandlerContext) {
        guard let record, pipeline.wholePending == 0, pipeline.hasBegun else { return }
        let isSending = ending.unwrittenAnswers > 0
        let activity: ConnectionRecord.Activity = pipeline.isReadingRequest ? .receiving : isSending ? .sending : .idle
        if record.activity.kind != activity { record.turn(to: activity, at: context.eventLoop.now) }
    }

    private func requestBegins(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
        deadline.hasPartialHead = false
        pipelined.headArrives()
        let declaredBytes = request.headerFields[.contentLength].map { Int($0) ?? .max } ?? 0
        guard declaredBytes <= configuration.maximumBodyBytes else { return refuse(.bodyTooLarge, context) }
        pipeline.requestBegins()
        let isLastOfMany = pipelined.begins()
        isLastRequest = isLastOfMany || request.isLastOnItsConnection
        held = HeldRequest(head: request)
        noteSource(request, context)
        if pipeline.wholePending == 0, let answer = configuration.refusal(request) {
            return answerAtHead(request, answer, context)
        }
        guard declaredBytes > 0 || request.headerFields[.transferEncoding] != nil else { return }
        guard slot.hasRoom(for: request, from: record?.source ?? "") else {
            return shed(request, context, isAtHead: true)
        }
        guard pipeline.wholePending == 0 else { return }
        turnToRest(context)
        giveLeaveToSend(context)
    }

    /// Answers a request that has begun; its body, if it has one, is read and thrown away.
    private func answerAtHead(_ request: HTTPRequest, _ answer: EarlyAnswer, _ context: ChannelHandlerContext) {
        throwBodyAway(of: request)
        send(answer, to: request, context)
    }

    private func throwBodyAway(of request: HTTPRequest) {
        held = nil
        // A client that waits for leave to send its body may or may not send it now, so that nothing can be read after it.
        if request.headerFields[.expect] != nil { isLastRequest = true }
    }

    /// Refuses a request for which there is no place, at once or, where many are refused, a little later.
    private func shed(_ request: HTTPRequest, _ context: ChannelHandlerContext, isAtHead: Bool = false) {
        if isAtHead { throwBodyAway(of: request) }
        guard let pause = slot.refuse() else { return send(answerOverload(request), to: request, context) }
        // Meanwhile nothing is read behind the request.
        context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
            if case .ended = self.phase { return }
            self.send(self.answerOverload(request), to: request, context)
        }
    }

    /// Notes where a request comes from, where a proxy tells.
    private func noteSource(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
        guard let source = configuration.source, let record else { return }
        let address = context.remoteAddress?.ipAddress
        record.source = connections.source(source(request, address) ?? address)
    }

    /// Tells a client that waits for leave to send its body to go on, once that is what comes next.
    private func giveLeaveToSend(_ context: ChannelHandlerContext) {
        guard let held, held.body == nil, held.head.headerFields[.expect]?.utf8.matches("100-continue") == true else {
            return
        }
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    private func bodyArrives(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        pipeline.bodyArrives(bytes.readableBytes)
        guard pipeline.bodyBytes <= configuration.maximumBodyBytes else { return refuse(.bodyTooLarge, context) }
        // Nil: the request was answered at its head.
        guard held != nil else { return }
        held?.body.setOrWriteImmutableBuffer(bytes)
        noteHeldBytes()
    }

    /// Passes a request that is whole, if there is a place for it.
    private func requestEnds(_ trailers: HTTPFields?, _ context: ChannelHandlerContext) {
        pipeline.requestEnds()
        pipelined.requestEnds()
        // The next request, of which a part may be there already, has a time of its own.
        deadline.wait = .responder
        if pipeline.wholePending == 1 { deadline.blocked = .zero }
        guard let request = held.take() else { return turnToRest(context) }
        noteHeldBytes()
        record?.turn(to: .working, at: context.eventLoop.now)
        guard slot.take(request.head, from: record?.source ?? "") else {
            return shed(request.head, context)
        }
        context.fireChannelRead(wrapInboundOut(.head(request.head)))
        if let body = request.body { context.fireChannelRead(wrapInboundOut(.body(body))) }
        context.fireChannelRead(wrapInboundOut(.end(trailers)))
    }

    /// Stops serving the connection, and answers the request that is at fault in its turn.
    func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        guard case .serving = phase else { return }
        logger.debug("Refused a request", metadata: ["status": .stringConvertible(refusal.status.code)])
        phase = .refusing(refusal, hasBegun: pipeline.isReadingRequest)
        forget()
        answerRefusalInItsTurn(context)
        updateDeadline(context)
    }

    private func answerRefusalInItsTurn(_ context: ChannelHandlerContext) {
        guard case .refusing(let refusal, let hasBegun) = phase else { return }
        let pendingBefore = pipeline.pendingResponses - (hasBegun ? 1 : 0)
        guard pendingBefore <= 0 else { return }
        // Below zero it was answered before its body was there, since there was no place for it.
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
        let options = headerFields[.connection]?.utf8.split(separator: UInt8(ascii: ",")).map {
            $0.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
        }
        return options?.contains { $0.matches("close") } == true || headerFields[.upgrade] != nil || method == .connect
    }
}
