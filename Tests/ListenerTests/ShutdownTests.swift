import Dispatch
import Foundation
import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import NIOPosix
import ServiceLifecycleTestKit
import TestSupport
import Testing

@Suite(.endsHangs) struct ShutdownTests {
    /// Tells when all handlers of a connection know of the shutdown.
    private final class DrainWatch: ChannelInboundHandler {
        typealias InboundIn = Any

        private let drained: Gate

        init(_ drained: Gate) { self.drained = drained }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            context.fireUserInboundEventTriggered(event)
            if event is ChannelShouldQuiesceEvent { Task { [drained] in await drained.pass() } }
        }
    }

    @Test func aRequestUnderWayIsAnsweredWhileNewConnectionsAreRefused() async throws {
        try await ListenerFixture.with { fixture in
            fixture.gate.close()
            let client = try await fixture.connect()
            try await client.request("GET", "/slow")
            await fixture.gate.hasArrivals(1)
            let idle = try await fixture.connect()

            fixture.shutDown()
            #expect(try await idle.end().isEmpty)
            await #expect(throws: (any Error).self) { try await fixture.connect() }

            fixture.gate.open()
            let response = try await client.response()
            #expect(response.body == "GET /slow ")
            #expect(response.headers["connection"] == "close")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func ofPipelinedRequestsTheOneUnderWayIsAnsweredAndTheClientLearnsOfTheEnd() async throws {
        let (gate, drained) = (Gate(), Gate())
        gate.close()
        let respond: Responder = { _, channel, _ in
            try? channel.pipeline.syncOperations.addHandler(DrainWatch(drained), position: .first)
            await gate.pass()
            return Response(text: "")
        }
        try await ListenerFixture.with(answering: respond) { fixture in
            let client = try await fixture.connect()
            try await client.send("GET /1 HTTP/1.1\r\nHost: test\r\n\r\nGET /2 HTTP/1.1\r\nHost: test\r\n\r\n")
            await gate.hasArrivals(1)
            fixture.shutDown()
            await drained.hasArrivals(1)
            gate.open()
            #expect(try await client.response().headers["connection"] == "close")
            #expect(try await client.end().isEmpty)
            #expect(gate.arrivals == 1)
        }
    }

    @Test func `who has just connected is answered once`() async throws {
        try await ListenerFixture.with {
            $0.lastRequestTimeout = Wait.limit
        } test: { fixture in
            let (used, new) = (try await fixture.connect(), try await fixture.connect())
            try await used.request("GET", "/1")
            #expect(try await used.response().status == 200)
            fixture.shutDown()
            #expect(try await used.end().isEmpty)
            try await new.request("GET", "/2")
            #expect(try await new.response().body == "GET /2 ")
            #expect(try await new.end().isEmpty)
        }
    }

    @Test func `before the shutdown each connection ends with its next answer, and new ones are taken`() async throws {
        let listener = Listener(
            configuration: .patient(), answering: ListenerFixture.echo(behind: Gate()),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
        try await ListenerFixture.run(listener) { fixture in
            let kept = try await fixture.connect()
            try await kept.request("GET", "/1")
            #expect(try await kept.response().headers["connection"] == nil)
            listener.announceEnd()
            try await kept.request("GET", "/2")
            #expect(try await kept.response().headers["connection"] == "close")
            #expect(try await kept.end().isEmpty)
            let new = try await fixture.connect()
            try await new.request("GET", "/3")
            #expect(try await new.response().headers["connection"] == "close")
            #expect(try await new.end().isEmpty)
        }
    }

    @Test func `who is accepted but not set up yet when the shutdown begins is answered, too`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let loops = group.makeIterator().map { $0 }
        var configuration = ListenerConfiguration.patient()
        configuration.lastRequestTimeout = Wait.limit
        let listener = Listener(
            configuration: configuration, answering: ListenerFixture.echo(behind: Gate()), eventLoopGroup: group,
            logger: .quiet)
        try await ListenerFixture.run(listener) { fixture in
            // NIO gives loops in turns: the first to the socket, the second to the first connection.
            let (release, blocked) = (DispatchSemaphore(value: 0), Gate())
            defer { release.signal() }
            loops[1].execute {
                Task { await blocked.pass() }
                release.wait()
            }
            await blocked.hasArrivals(1)
            let client = try await fixture.connect()
            try await client.request("GET", "/1")
            // It is accepted, so the loop of the socket is not the one that stands still.
            try await Wait.until("the connection is accepted") { listener.openConnections == 1 }
            fixture.shutDown()
            // Whatever the shutdown does at once on that loop is done.
            try await loops[0].submit {}.get()
            release.signal()
            #expect(try await client.response().body == "GET /1 ")
            #expect(try await client.end().isEmpty)
        }
        try await group.shutdownGracefully()
    }

    @Test(arguments: [false, true])
    func `whom nobody has accepted when the shutdown begins is answered, too`(_ isUnix: Bool) async throws {
        let address =
            isUnix
            ? ListenerAddress.unix(path: ListenerFixture.temporaryPath(), mode: 0o600)
            : .tcp(host: "127.0.0.1", port: 0)
        var configuration = ListenerConfiguration.patient(address)
        configuration.lastRequestTimeout = Wait.limit
        let listener = Listener(
            configuration: configuration, answering: ListenerFixture.echo(behind: Gate()),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
        let bound = try await listener.bind()
        var clients: [TestConnection] = []
        // More than are accepted in one turn.
        for number in 0..<40 {
            let client = try await TestConnection.connect(to: bound)
            try await client.request("GET", "/\(number)")
            clients.append(client)
        }
        try await testGracefulShutdown { [clients] trigger in
            trigger.triggerGracefulShutdown()
            async let isOver: Void = listener.run()
            for (number, client) in clients.enumerated() {
                #expect(try await client.response().body == "GET /\(number) ")
                #expect(try await client.end().isEmpty)
            }
            try await isOver
        }
        await #expect(throws: (any Error).self) { try await TestConnection.connect(to: bound) }
    }

    @Test(arguments: [false, true])
    func aLargeAnswerReachesASlowReaderWhole(_ clientFinishesFirst: Bool) async throws {
        let size = 24_000_000
        let answered = Gate()
        try await ListenerFixture.with(
            answering: { _, _, _ in
                Response(
                    status: .ok, headers: [.contentLength: "\(size)"],
                    body: ResponseBody { writer in
                        try await writer.write(ByteBuffer(repeating: UInt8(ascii: "x"), count: size))
                        try await writer.finish(nil)
                        await answered.pass()
                    })
            },
            test: { fixture in
                let client = try await TestConnection.connect(to: fixture.address, isReading: false)
                try await client.request("GET", "/")
                if clientFinishesFirst { try await client.finishSending() }
                await answered.hasArrivals(1)
                fixture.shutDown()
                try await client.startReading()
                #expect(try await client.response().body.utf8.count == size)
            })
    }

    @Test func theSocketFileIsGoneAtOnce() async throws {
        let path = ListenerFixture.temporaryPath()
        try await ListenerFixture.with(address: .unix(path: path, mode: 0o600)) { fixture in
            #expect(FileManager.default.fileExists(atPath: path))
            let idle = try await fixture.connect()
            fixture.shutDown()
            #expect(try await idle.end().isEmpty)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func cancellationClosesEverythingAndCancelsTheResponders() async throws {
        let begun = Gate()
        begun.close()
        let listener = Listener(
            configuration: .patient(),
            answering: { _, _, _ in
                // Nobody opens it: only cancellation lets it pass.
                await begun.pass()
                return Response(text: "nobody gets it")
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
        let address = try await listener.bind()
        let running = Task { try await listener.run() }
        let (busy, idle) = (
            try await TestConnection.connect(to: address), try await TestConnection.connect(to: address)
        )
        try await busy.request("GET", "/")
        await begun.hasArrivals(1)
        running.cancel()
        try await running.value
        #expect(try await busy.end().isEmpty)
        #expect(try await idle.end().isEmpty)
    }

    /// Connections that nobody has taken over yet when the task is cancelled.
    @Test func cancellationInTheMidstOfAcceptingIsHarmless() async throws {
        for _ in 1...20 {
            let listener = Listener(
                configuration: .patient(),
                answering: { _, _, _ in Response(text: "") },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
            let address = try await listener.bind()
            var clients: [TestConnection] = []
            for _ in 1...10 { clients.append(try await TestConnection.connect(to: address)) }
            let running = Task { try await listener.run() }
            running.cancel()
            try await running.value
            for client in clients { _ = try await client.end() }
        }
    }

    @Test func connectionsMadeBeforeItRunsAreServedThen() async throws {
        let listener = Listener(
            configuration: .patient(),
            answering: { _, _, _ in Response(text: "late") },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
        let early = try await TestConnection.connect(to: try await listener.bind())
        try await early.request("GET", "/")
        let running = Task { try await listener.run() }
        #expect(try await early.response().body == "late")
        running.cancel()
        try await running.value
    }
}
