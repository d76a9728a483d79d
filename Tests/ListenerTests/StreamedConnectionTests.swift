import Listener
import NIOCore
import NIOPosix
import ServiceLifecycleTestKit
import TestSupport
import Testing

/// Connections of another protocol than HTTP/1.1, on which many requests are worked on at once.
@Suite(.endsHangs) struct StreamedConnectionTests {
    /// A protocol of a few words: `begin` and `end` of a request, one that can `arrive` or `wait`, a number of bytes that it holds;
    /// and `leaving` when the listener wants it to end.
    private final class Talk: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let connection: StreamedConnection

        /// `hasBegun`: whether a request is under way from the beginning.
        init(_ connection: StreamedConnection, hasBegun: Bool) {
            self.connection = connection
            if hasBegun { begin() }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let word = String(buffer: unwrapInboundIn(data))
            if let bytes = Int(word) { return say("\(word): \(connection.hold(bytes: bytes))", context) }
            switch word {
            case "begin": begin()
            case "end": connection.requestEnded(.working)
            case "wait":
                connection.requestBegan()
                connection.requestArrived(.waiting)
            default: connection.requestBegan()
            }
            say("\(word): done", context)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent { say("leaving", context) }
        }

        private func begin() {
            connection.requestBegan()
            connection.requestArrived(.working)
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

    @Test func `one on which requests only arrive, or wait, makes room as well`() async throws {
        for word in ["arrive", "wait"] {
            try await Self.with {
                $0.maximumConnections = 2
            } test: { fixture in
                let busy = try await fixture.begin()
                let other = try await fixture.connect()
                try await other.send(word)
                try await other.receive("\(word): done")
                let next = try await fixture.begin()
                #expect(try await other.end().isEmpty)
                for client in [busy, next] {
                    try await client.send("end")
                    try await client.receive("end: done")
                }
            }
        }
    }

    @Test func `what is held of what arrives is bounded`() async throws {
        try await Self.with {
            $0.maximumBodyBytes = 1000
        } test: { fixture in
            let client = try await fixture.begin()
            for (word, answer) in [("1999", "true"), ("1", "true"), ("1", "false"), ("-2", "true"), ("1", "true")] {
                try await client.send(word)
                try await client.receive("\(word): \(answer)")
            }
            try await client.send("end")
            try await client.receive("end: done")
        }
    }
}
