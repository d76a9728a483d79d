import Listener
import NIOCore
import NIOPosix
import ServiceLifecycleTestKit
import TestSupport
import Testing

/// Connections of another protocol than HTTP/1.1, on which many requests are worked on at once.
@Suite(.endsHangs) struct StreamedConnectionTests {
    /// A protocol with three words: `begin` and `end` of a request, and `leaving` when the listener wants it to end.
    private final class Talk: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let connection: StreamedConnection

        /// `hasBegun`: whether a request is under way from the beginning.
        init(_ connection: StreamedConnection, hasBegun: Bool) {
            self.connection = connection
            if hasBegun { connection.requestBegan() }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let word = String(buffer: unwrapInboundIn(data))
            if word == "begin" { connection.requestBegan() } else { connection.requestEnded() }
            say("\(word): done", context)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent { say("leaving", context) }
        }

        private func say(_ text: String, _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }
    }

    private struct Fixture: Sendable {
        let address: BoundAddress
        let listener: Listener
        let trigger: GracefulShutdownTestTrigger

        func connect() async throws -> TestConnection { try await TestConnection.connect(to: address) }

        /// A connection on which a request is worked on.
        func begin() async throws -> TestConnection {
            let client = try await connect()
            try await client.send("begin")
            try await client.receive("begin: done")
            return client
        }
    }

    private static func with(
        hasBegun: Bool = false, _ configure: (inout ListenerConfiguration) -> Void,
        test: @Sendable (Fixture) async throws -> Void
    ) async throws {
        var configuration = ListenerConfiguration.patient()
        configure(&configuration)
        let listener = Listener(
            configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
        let (connections, address) = try await listener.bind { channel, connection in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Talk(connection, hasBegun: hasBegun))
            }
        }
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await connections.executeThenClose { accepted in for try await _ in accepted {} }
                }
                group.addTask { try await listener.run() }
                try await test(Fixture(address: address, listener: listener, trigger: trigger))
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    @Test func `whoever asks for nothing is gone after a while`() async throws {
        try await Self.with {
            $0.firstRequestTimeout = .milliseconds(20)
        } test: { fixture in
            let silent = try await fixture.connect()
            #expect(try await silent.end().isEmpty)
        }
    }

    @Test func `a connection that rests for too long is taken leave of`() async throws {
        try await Self.with(hasBegun: true) {
            $0.idleTimeout = .milliseconds(20)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.send("end")
            #expect(try await client.end().hasSuffix("leaving"))
        }
    }

    @Test func `at the shutdown what is under way is waited for, and nothing else`() async throws {
        try await Self.with { _ in
        } test: { fixture in
            let (busy, resting) = (try await fixture.begin(), try await fixture.begin())
            try await resting.send("end")
            try await resting.receive("end: done")
            fixture.trigger.triggerGracefulShutdown()
            #expect(try await resting.end() == "leaving")
            try await busy.receive("leaving")
            try await busy.send("end")
            #expect(try await busy.end() == "end: done")
        }
    }

    @Test func `one that rests makes room for another, and one that works does not`() async throws {
        try await Self.with {
            $0.maximumConnections = 2
        } test: { fixture in
            let (busy, resting) = (try await fixture.begin(), try await fixture.begin())
            try await resting.send("end")
            try await resting.receive("end: done")
            let next = try await fixture.begin()
            #expect(try await resting.end().isEmpty)
            try await next.send("end")
            try await next.receive("end: done")
            try await busy.send("end")
            try await busy.receive("end: done")
        }
    }

    @Test func `what is held of what arrives counts for the connection`() async throws {
        try await Self.with { _ in
        } test: { fixture in
            let client = try await fixture.begin()
            #expect(fixture.listener.openConnections == 1)
            try await client.close()
            try await Wait.until("the connection to be gone") { fixture.listener.openConnections == 0 }
        }
    }
}
