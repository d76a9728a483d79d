import Dispatch
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import Listener

/// What is done for a request runs on the event loop of its connection.
@Suite(.endsHangs) struct ConnectionLoopTests {
    private actor Helper {
        func isOn(_ eventLoop: any EventLoop) -> Bool { eventLoop.inEventLoop }
    }

    /// Tells at each step whether it runs on the connection's event loop.
    private static func steps(behind gate: Gate) -> Responder {
        { _, channel, _ in
            let eventLoop = channel.eventLoop
            var steps = [eventLoop.inEventLoop]
            await gate.pass()
            steps.append(eventLoop.inEventLoop)
            steps.append(await Helper().isOn(eventLoop))
            steps.append(
                await withTaskGroup { group in
                    group.addTask { eventLoop.inEventLoop }
                    return await group.next() ?? false
                })
            return Response(text: steps.map(String.init).joined(separator: " "))
        }
    }

    @Test func `a request begins on its connection's event loop and comes back to it`() async throws {
        let gate = Gate()
        gate.close()
        try await ListenerFixture.with(answering: Self.steps(behind: gate)) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            // Opened from elsewhere, as Apple's answers come.
            await gate.hasArrivals(1)
            gate.open()
            #expect(try await client.response().body == "true true true true")
        }
    }

    @Test func `a request with a long body is worked on elsewhere`() async throws {
        let gate = Gate()
        try await ListenerFixture.with(answering: Self.steps(behind: gate)) { fixture in
            let client = try await fixture.connect()
            for (count, isOnLoop) in [(0, true), (1, false)] {
                let body = String(repeating: "x", count: EventLoopExecutor.maximumBodyBytes + count)
                try await client.request("POST", "/", body: body)
                #expect(
                    try await client.response().body == Array(repeating: "\(isOnLoop)", count: 4).joined(separator: " ")
                )
            }
        }
    }

    /// Keeps an event loop from running until it is released.
    private final class Block: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let reached = Gate()

        func hold() {
            Task { await reached.pass() }
            semaphore.wait()
        }

        func isHeld(_ count: Int = 1) async { await reached.hasArrivals(count) }

        func release() { semaphore.signal() }
    }

    @Test func `the limiter learns how long what comes from elsewhere waits for the event loop`() async throws {
        let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let time = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000))
        let limiter = RequestLimiter(limit: 100, isSharedByCaller: true, logger: .quiet) { time.withLock(\.self) }
        let eventLoop = eventLoops.next()
        let executor = EventLoopExecutor(EventLoopTurns(), eventLoop, limiter)
        for count in 1...4 {
            #expect(!limiter.isCrowded)
            let block = Block()
            eventLoop.execute { block.hold() }
            await block.isHeld()
            let task = Task(executorPreference: executor) { eventLoop.inEventLoop }
            time.withLock { $0 = $0 + .milliseconds(50) }
            block.release()
            #expect(await task.value)
            #expect(limiter.isCrowded == (count > 2), "for longer than its patience")
            if limiter.isCrowded { break }
        }
        #expect(limiter.isCrowded)
        await Task(executorPreference: executor) {}.value
        #expect(!limiter.isCrowded, "the event loop has time again")
        try await eventLoops.shutdownGracefully()
    }

    @Test func `jobs that never end let the event loop look at its sockets`() async throws {
        let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let begun = Gate()
        let helper = Helper()
        let respond: Responder = { request, channel, _ in
            if request.uri.path == "/endless" {
                await begun.pass()
                // Each call of an actor is a job, and the way back another.
                while !Task.isCancelled { _ = await helper.isOn(channel.eventLoop) }
            }
            return Response(text: "")
        }
        try await ListenerFixture.with(answering: respond, eventLoops: eventLoops) { fixture in
            let (endless, other) = (try await fixture.connect(), try await fixture.connect())
            try await endless.request("GET", "/endless")
            await begun.hasArrivals(1)
            try await other.request("GET", "/")
            #expect(try await other.response().status == 200)
            // This, too, is read from a socket.
            try await endless.close()
        }
        try await eventLoops.shutdownGracefully()
    }

    @Test func `a listener is over when what is done for those who have left is`() {
        let overs = Atomic(0)
        let connections = OpenConnections(
            bounds: .init(connections: 4, incomplete: 4, leaving: 1, heldBytes: 1), logger: .quiet
        ) { overs.add(1, ordering: .relaxed) }
        let channel = EmbeddedChannel()
        #expect(connections.insert(channel))
        connections.acceptingHasEnded()
        connections.taskOutlivesConnection()
        connections.remove(channel)
        #expect(overs.load(ordering: .relaxed) == 0)
        connections.outlivingTaskEnded()
        #expect(overs.load(ordering: .relaxed) == 1)
    }

    /// The decoder goes on with what it has when the connection fails under the first answer.
    @Test(arguments: [true, false])
    func `nothing is begun on a connection that has closed`(isGuarded: Bool) throws {
        let overs = Atomic(0)
        let begun = Atomic(0)
        let configuration = ListenerConfiguration(name: "test", address: .tcp(host: "127.0.0.1", port: 0))
        let connections = OpenConnections(bounds: .init(configuration), logger: .quiet) {
            overs.add(1, ordering: .relaxed)
        }
        let channel = EmbeddedChannel()
        #expect(connections.insert(channel))
        let limiter = RequestLimiter(limit: 1, logger: .quiet)
        let guarding = ConnectionGuard(
            configuration: configuration, connections: connections, limiter: limiter,
            answeringOverload: Refusal.answerOverload, logger: .quiet)
        if isGuarded { try channel.pipeline.syncOperations.addHandler(guarding) }
        let respond: Responder = { _, _, _ in
            begun.add(1, ordering: .relaxed)
            return Response(text: "")
        }
        try channel.pipeline.syncOperations.addHandler(
            ConnectionResponder(
                AcceptedConnection(peerRecord: PeerRecord(), slot: guarding.slot), respond,
                on: EventLoopExecutor(EventLoopTurns(), channel.eventLoop, limiter), connections, .quiet))
        channel.pipeline.fireChannelInactive()
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        try channel.writeInbound(HTTPRequestPart.head(request))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        connections.acceptingHasEnded()
        connections.remove(channel)
        #expect(begun.load(ordering: .relaxed) == 0)
        #expect(overs.load(ordering: .relaxed) == 1)
        #expect(limiter.admit(nil), "its place is given back")
    }

    @Test func `a cancelled listener waits for what is done for its clients`() async throws {
        let (gate, ended) = (Gate(), Gate())
        gate.close()
        let listener = Listener(
            configuration: .patient(),
            answering: { _, _, _ in
                // Cancellation does not reach it.
                await Task { await gate.pass() }.value
                await ended.pass()
                return Response(text: "nobody gets it")
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
        let address = try await listener.bind()
        let running = Task { try await listener.run() }
        let client = try await TestConnection.connect(to: address)
        try await client.request("GET", "/")
        await gate.hasArrivals(1)
        running.cancel()
        #expect(try await client.end().isEmpty)
        gate.open()
        try await running.value
        #expect(ended.arrivals == 1)
    }

    @Test func `an answer that is streamed waits for its client, and comes whole and in order`() async throws {
        let (pieces, pieceBytes) = (3000, 10_000)
        let mostHeld = Mutex(0)
        let respond: Responder = { _, channel, _ in
            Response(
                status: .ok, headers: [.contentLength: "\(pieces * pieceBytes)"],
                body: ResponseBody { writer in
                    for number in 0..<pieces {
                        let text = "\(number) "
                        try await writer.write(
                            ByteBuffer(string: text + String(repeating: "x", count: pieceBytes - text.utf8.count)))
                        let held = try channel.syncOptions?.getOption(.bufferedWritableBytes) ?? .max
                        mostHeld.withLock { $0 = max($0, held) }
                    }
                    try await writer.finish(nil)
                })
        }
        try await ListenerFixture.with(answering: respond) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            let body = try await client.response().body
            #expect(body.split(separator: "x").map { String($0.dropLast()) } == (0..<pieces).map(String.init))
        }
        #expect(mostHeld.withLock(\.self) < 200_000, "thirty megabytes fit no buffer of the kernel")
    }
}
