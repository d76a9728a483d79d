import NIOCore
import NIOEmbedded
import NIOHTTP2
import Testing

@testable import GRPCAPI

/// What stays of a connection that closes while it is read.
struct ConnectionMarkTests {
    private struct Nobody: GRPCConnection {
        func callBegan() {}
        func callArrived(_ kind: GRPCCallKind) {}
        func callEnded(_ kind: GRPCCallKind?) {}
        func hold(bytes change: Int) -> Bool { true }
        func taskExecutor(ofBodyBytes count: Int) -> any TaskExecutor { globalConcurrentExecutor }
    }

    /// Closes the connection on an error, as the transport does.
    private final class Closer: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// Safe without a lock: `EmbeddedChannel` runs everything on the test's thread.
    private final class Streams: Sendable {
        nonisolated(unsafe) weak var latest: (any Channel)?
        nonisolated(unsafe) var count = 0
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

    /// HEADERS that do not end their stream: GET, http, / and an authority.
    private static func call(_ stream: UInt8) -> [UInt8] {
        [0, 0, 6, 1, 4, 0, 0, 0, stream, 0x82, 0x86, 0x84, 0x01, 0x01, 0x61]
    }

    /// Reads bytes as a socket does that closes meanwhile: without `channelReadComplete`.
    private static func read(_ pieces: [[UInt8]]) throws -> Streams {
        let streams = Streams()
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ConnectionMark(Nobody()))
        try pipeline.addHandler(
            NIOHTTP2Handler(mode: .server, eventLoop: channel.eventLoop) { stream in
                streams.latest = stream
                streams.count += 1
                return stream.eventLoop.makeSucceededVoidFuture()
            })
        try pipeline.addHandler(Closer())
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        for piece in pieces { channel.pipeline.fireChannelRead(ByteBuffer(bytes: piece)) }
        #expect(!channel.isActive)
        channel.embeddedEventLoop.run()
        return streams
    }

    /// What closes the connection: DATA on stream 0, a frame that is too long, windows that overflow, DATA on a stream that is idle,
    /// empty DATA again and again, and PING after PING.
    @Test(
        arguments: [
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1],
            [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff],
            [0, 0, 1, 0, 0, 0, 0, 0, 99, 0],
            Array([[UInt8]](repeating: [0, 0, 0, 0, 0, 0, 0, 0, 1], count: 2).joined()),
            Array([[UInt8]](repeating: [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], count: 201).joined()),
        ] as [[UInt8]])
    func `the streams of the read in which a connection closes are let go of`(_ fault: [UInt8]) throws {
        let calls = Self.call(1) + Self.call(3)
        for pieces in [[Self.preface + calls + fault], [Self.preface + calls, fault]] {
            let streams = try Self.read(pieces)
            #expect(streams.count == 2)
            #expect(streams.latest == nil)
        }
    }
}
