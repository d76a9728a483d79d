import HTTPTypes
package import HummingbirdCore
import Logging
package import NIOCore
import NIOHTTPTypes

/// Makes the answer to a request.
package typealias Responder = @Sendable (Request, any Channel, AcceptedConnection) async -> Response

/// Answers the requests of one connection, one after the other, each in one task on the connection's event loop.
///
/// The requests come whole, since ``ConnectionGuard`` stands before it. A client that leaves before there is an answer ends
/// what is being done for it; an answer that exists is still sent. A client that has said that it sends no more counts as
/// gone, because TCP does not tell it from one that has closed: most clients never do one without the other.
final class ConnectionResponder: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    /// A request of which the last byte has arrived.
    private struct WholeRequest {
        let request: Request
        let bodyBytes: Int
    }

    /// How far the answer to a request is that was begun.
    private enum Progress {
        /// It is being made, by a task that is there once it has waited for something.
        case answering(Task<Void, Never>?)
        case sending
    }

    private let connection: AcceptedConnection
    private let respond: Responder
    private let executor: EventLoopExecutor
    private let connections: OpenConnections
    private let logger: Logger

    private var arriving: (head: HTTPRequest, body: ByteBuffer?)?
    /// One that came with the body of an earlier one; ``PipelinedRequests`` holds the others back.
    private var waiting = CircularBuffer<WholeRequest>()
    private var progress: Progress?
    /// How many answers were begun.
    private var begun = 0
    private var hasClientFinished = false
    /// Whether the connection ends once everything is answered.
    private var isEnding = false
    private var isClosed = false

    init(
        _ connection: AcceptedConnection, _ respond: @escaping Responder, on executor: EventLoopExecutor,
        _ connections: OpenConnections, _ logger: Logger
    ) {
        self.connection = connection
        self.respond = respond
        self.executor = executor
        self.connections = connections
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): arriving = (head, nil)
        // Not copied: whoever reads a secret wipes what it came in.
        case .body(let bytes): arriving?.body.setOrWriteImmutableBuffer(bytes)
        case .end:
            guard let arrived = arriving.take(), !isClosed else { return }
            let body = arrived.body ?? ByteBuffer()
            waiting.append(
                WholeRequest(
                    request: Request(head: arrived.head, body: RequestBody(buffer: body)),
                    bodyBytes: body.readableBytes))
            answerNext(context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            hasClientFinished = true
            cancel()
            closeWhenIdle(context)
        case is ChannelShouldQuiesceEvent:
            isEnding = true
            closeWhenIdle(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.trace("Connection failed", metadata: ["reason": "\(error)"])
        isEnding = true
        waiting.removeAll()
        closeWhenIdle(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        waiting.removeAll()
        if progress == nil {
            connection.slot.giveBack()
        } else {
            // It is over when the task is.
            connections.taskOutlivesConnection()
            cancel()
        }
        context.fireChannelInactive()
    }

    /// Ends what is being done for a client that is gone.
    private func cancel() {
        if case .answering(let task) = progress { task?.cancel() }
    }

    private func closeWhenIdle(_ context: ChannelHandlerContext) {
        guard isEnding || hasClientFinished, progress == nil, waiting.isEmpty else { return }
        context.close(promise: nil)
    }

    private func answerNext(_ context: ChannelHandlerContext) {
        guard progress == nil, let next = waiting.popFirst() else { return }
        let (respond, connection, channel, executor) = (respond, connection, context.channel, executor)
        let mine = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        progress = .answering(nil)
        begun += 1
        let number = begun
        // Begins at once and on this thread: many requests wait for nothing.
        let task = Task.immediate(executorPreference: executor) {
            let response =
                if next.bodyBytes > EventLoopExecutor.maximumBodyBytes {
                    await withTaskExecutorPreference(executor.executor(ofBodyBytes: next.bodyBytes)) {
                        await respond(next.request, channel, connection)
                    }
                } else {
                    await respond(next.request, channel, connection)
                }
            let (handler, context) = mine.value
            let isSent = await handler.send(response, context)
            handler.requestIsOver(isSent: isSent, context)
        }
        // It may be over by now, and the next one begun.
        if number == begun, case .answering = progress {
            progress = .answering(task)
            if hasClientFinished { task.cancel() }
        }
    }

    /// Sends an answer; false when that failed on the way, so that its client must not take it for whole.
    private func send(_ response: Response, _ context: ChannelHandlerContext) async -> Bool {
        progress = .sending
        context.write(wrapOutboundOut(.head(response.head)), promise: nil)
        do {
            let isStream = response.body.contentLength == nil
            try await response.body.write(AnswerWriter(context.channel, flushesEach: isStream))
            return true
        } catch {
            logger.trace("Cannot send an answer", metadata: ["reason": "\(error)"])
            return false
        }
    }

    private func requestIsOver(isSent: Bool, _ context: ChannelHandlerContext) {
        progress = nil
        guard !isClosed else {
            connection.slot.giveBack()
            return connections.outlivingTaskEnded()
        }
        guard isSent else { return context.close(promise: nil) }
        answerNext(context)
        closeWhenIdle(context)
    }
}

/// Writes the body of an answer, and waits while the client takes nothing.
private struct AnswerWriter: ResponseBodyWriter {
    private let channel: any Channel
    private let flushesEach: Bool

    /// `flushesEach`: whether the client is to have each piece at once, for there may be none after it for a while.
    init(_ channel: any Channel, flushesEach: Bool) {
        self.channel = channel
        self.flushesEach = flushesEach
    }

    func write(_ buffer: ByteBuffer) async throws {
        guard channel.isWritable else { return try await channel.writeAndFlush(HTTPResponsePart.body(buffer)).get() }
        channel.write(HTTPResponsePart.body(buffer), promise: nil)
        if flushesEach { channel.flush() }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        channel.writeAndFlush(HTTPResponsePart.end(trailingHeaders), promise: nil)
    }
}
