import NIOCore
import NIOEmbedded
import Testing

@testable import Listener

/// When the next connection is accepted while there is no room, on an event loop whose clock the test moves.
@Suite struct AcceptHandlerTests {
    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = Never

        var count = 0

        func read(context: ChannelHandlerContext) { count += 1 }
    }

    @Test func `it looks for room once in a while, however often there was none`() throws {
        let half = TimeAmount.nanoseconds(AcceptHandler.pause.nanoseconds / 2)
        let connections = OpenConnections(
            bounds: .init(connections: 1, incomplete: 1, leaving: 2, heldBytes: 1), logger: .quiet, whenOver: {})
        let working = EmbeddedChannel()
        #expect(connections.insert(working))
        let record = try #require(connections.record(of: working))
        record.turn(to: .working, at: .now())

        let (channel, reads) = (EmbeddedChannel(), Reads())
        try channel.pipeline.syncOperations.addHandler(reads)
        try channel.pipeline.syncOperations.addHandler(AcceptHandler(connections: connections, logger: .quiet))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let before = reads.count
        channel.read()
        channel.embeddedEventLoop.advanceTime(by: half)
        channel.read()
        record.turn(to: .idle, at: .now())
        channel.embeddedEventLoop.advanceTime(by: half)
        #expect(reads.count == before, "what was to look first has given way")
        channel.embeddedEventLoop.advanceTime(by: half)
        #expect(reads.count == before + 1)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(reads.count == before + 1)
    }
}
