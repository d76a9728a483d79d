import Listener
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport

/// A client's connection, on which a test sends bytes as it likes and reads answers one by one.
actor TestConnection {
    struct Ended: Error {}

    private let channel: any Channel
    private var arriving: AsyncStream<ByteBuffer>.Iterator
    private var buffer = ByteBuffer()

    private init(channel: any Channel, arriving: AsyncStream<ByteBuffer>) {
        self.channel = channel
        self.arriving = arriving.makeAsyncIterator()
    }

    /// Connects; with `isReading` false nothing is read before ``startReading()``, with `isStubborn` its side stays open when the
    /// other has finished.
    ///
    /// `source`: from which address.
    static func connect(
        to address: BoundAddress, from source: String? = nil, isReading: Bool = true, isStubborn: Bool = false,
        tls: NIOSSLContext? = nil
    ) async throws -> TestConnection {
        let (arriving, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(Int64(Wait.seconds)))
            .channelOption(.autoRead, value: isReading)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        Collector(continuation: continuation, isStubborn: isStubborn))
                }
            }
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        let channel =
            switch address {
            case .tcp(let host, let port): try await bootstrap.connect(host: host, port: port).get()
            case .unix(let path): try await bootstrap.connect(unixDomainSocketPath: path).get()
            }
        return TestConnection(channel: channel, arriving: arriving)
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    func request(_ method: String, _ path: String, headers: [String] = [], body: String = "") async throws {
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        let lines = ["\(method) \(path) HTTP/1.1", "Host: test"] + headers + length
        try await send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Says that nothing more will be sent.
    func finishSending() async throws {
        try await channel.close(mode: .output)
    }

    func startReading() async throws {
        try await channel.setOption(.autoRead, value: true).get()
    }

    func close() async throws {
        try await channel.close()
    }

    /// The next answer, interim ones included.
    func response() async throws -> TestResponse {
        while true {
            if let response = try TestResponse(reading: &buffer) { return response }
            guard let more = try await next("the rest of an answer") else { throw Ended() }
            buffer.writeImmutableBuffer(more)
        }
    }

    /// Waits until the server has sent this text, and passes over it and all before it.
    func receive(_ text: String) async throws {
        while !String(buffer: buffer).contains(text) {
            guard let more = try await next("`\(text)`") else { throw Ended() }
            buffer.writeImmutableBuffer(more)
        }
        buffer.clear()
    }

    /// Waits until the server has closed; returns what it sent before that nobody has read.
    func end() async throws -> String {
        while let more = try await next("the end of a connection") { buffer.writeImmutableBuffer(more) }
        return String(buffer: buffer)
    }

    private func next(_ what: String) async throws -> ByteBuffer? {
        try await Wait.bounding(what) { await self.take() }
    }

    private func take() async -> ByteBuffer? {
        // An actor's iterator cannot be advanced across a suspension in place.
        var iterator = arriving
        let next = await iterator.next(isolation: #isolation)
        arriving = iterator
        return next
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let continuation: AsyncStream<ByteBuffer>.Continuation

        let isStubborn: Bool

        init(continuation: AsyncStream<ByteBuffer>.Continuation, isStubborn: Bool) {
            self.continuation = continuation
            self.isStubborn = isStubborn
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(unwrapInboundIn(data))
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            // The other side has finished, and so does this one, as HTTP clients do.
            if case ChannelEvent.inputClosed = event, !isStubborn { context.close(promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            continuation.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // A reset: what was not read by now is lost, as it is to any client.
            context.close(promise: nil)
        }
    }
}
