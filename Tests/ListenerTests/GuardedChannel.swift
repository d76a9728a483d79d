import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

@testable import Listener

/// A connection with its guard, on an event loop whose clock the test moves.
struct GuardedChannel {
    let channel = EmbeddedChannel()
    let network = Network()
    let reader = Reader()
    let connections: OpenConnections
    /// For one request at a time, in a second that does not end.
    let limiter = RequestLimiter(limit: 1, logger: .quiet, now: { .uptimeNanoseconds(5_000_000_000) })

    init() throws {
        var configuration = ListenerConfiguration(name: "test", address: .tcp(host: "127.0.0.1", port: 0))
        configuration.idleTimeout = .seconds(60)
        configuration.requestReadTimeout = .seconds(15)
        configuration.responseWriteTimeout = .seconds(30)
        configuration.lingerTimeout = .seconds(2)
        connections = OpenConnections(bounds: .init(configuration), logger: .quiet, whenOver: {})
        _ = connections.insert(channel)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(network)
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        let connectionGuard = ConnectionGuard(
            configuration: configuration, connections: connections, limiter: limiter,
            answeringOverload: Refusal.answerOverload, logger: .quiet)
        try pipeline.addHandler(connectionGuard)
        try connectionGuard.addHandlersBefore(in: pipeline)
        try pipeline.addHandler(reader)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.read()
    }

    func receive(_ text: String) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    func pass(_ seconds: Int64) { pass(.seconds(seconds)) }

    func pass(_ time: TimeAmount) {
        channel.embeddedEventLoop.advanceTime(by: time)
    }

    func respond() {
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
    }

    /// The requests that have come to a responder since the last look, each as method, path and body.
    func begun() throws -> [String] {
        var requests: [String] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) {
            switch part {
            case .head(let head): requests.append("\(head.method) \(head.path ?? "") ")
            case .body(let bytes): requests.append((requests.popLast() ?? "") + String(buffer: bytes))
            case .end: break
            }
        }
        return requests
    }

    var activity: ConnectionRecord.Activity? { connections.record(of: channel)?.activity.kind }

    func sent() throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    /// Stands in for a responder that takes what has been read, or does not yet.
    final class Reader: ChannelOutboundHandler {
        typealias OutboundIn = Never

        var isReading = true

        func read(context: ChannelHandlerContext) {
            if isReading { context.read() }
        }
    }

    /// Stands in for the socket, which an embedded channel closes whole when only its output is to be closed.
    final class Network: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        var closed: [CloseMode] = []
        var reads = 0
        /// Whether it takes what is written.
        var isTaking = true {
            didSet { if isTaking { pass() } }
        }
        private var context: ChannelHandlerContext?
        private var waiting: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func read(context: ChannelHandlerContext) {
            reads += 1
            context.read()
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            waiting.append((data, promise))
            if isTaking { pass() }
        }

        private func pass() {
            for (data, promise) in waiting { context?.write(data, promise: promise) }
            waiting = []
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            closed.append(mode)
            if mode == .output {
                promise?.succeed()
            } else {
                context.close(mode: mode, promise: promise)
            }
        }
    }
}
