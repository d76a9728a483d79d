import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Listener

/// Half-sent requests and silent connections take nobody's place.
@Suite(.endsHangs) struct EvictionTests {
    private static let halfRequest = "POST /half HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf"

    @Test func `a request whose body is not there takes no place among those that are worked on`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 2
        } test: { fixture in
            var halves: [TestConnection] = []
            for _ in 0..<20 {
                let half = try await fixture.connect()
                try await half.send(Self.halfRequest)
                halves.append(half)
            }
            let client = try await fixture.connect()
            try await client.request("POST", "/whole", body: "body")
            #expect(try await client.response().body == "POST /whole body")
            for half in halves {
                try await half.send(" and n")
                #expect(try await half.response().body == "POST /half half and n")
            }
        }
    }

    @Test func `silent connections make room for those that ask, the oldest first`() async throws {
        try await ListenerFixture.with {
            $0.maximumConnections = 100
            $0.maximumIncompleteConnections = 4
        } test: { fixture in
            var silent: [TestConnection] = []
            for _ in 0..<20 {
                silent.append(try await fixture.connect())
                let client = try await fixture.connect()
                try await client.request("GET", "/whole")
                #expect(try await client.response().status == 200)
                try await client.close()
            }
            #expect(try await silent[0].end().isEmpty)
            try await silent[19].request("GET", "/late")
            #expect(try await silent[19].response().body == "GET /late ")
        }
    }

    @Test func `a request in whose wake half of another came gives its place back, and its connection makes room`()
        async throws
    {
        try await ListenerFixture.with {
            $0.maximumRequests = 1
            $0.maximumConnections = 1
        } test: { fixture in
            let greedy = try await fixture.connect()
            try await greedy.send("GET /first HTTP/1.1\r\nHost: test\r\n\r\n" + Self.halfRequest)
            #expect(try await greedy.response().body == "GET /first ")
            let client = try await fixture.connect()
            try await client.request("POST", "/whole", body: "body")
            #expect(try await client.response().body == "POST /whole body")
            #expect(try await greedy.end().isEmpty)
        }
    }

    @Test func `a client that waits for leave behind another request of its own is told to go on`() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            let waiting = "POST /b HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
            try await client.send("GET /a HTTP/1.1\r\nHost: test\r\n\r\n" + waiting)
            #expect(try await client.response().body == "GET /a ")
            #expect(try await client.response().status == 100)
            try await client.send("body")
            #expect(try await client.response().body == "POST /b body")
        }
    }

    @Test func `a refused client that stays makes room`() async throws {
        try await ListenerFixture.with {
            $0.maximumConnections = 1
            $0.maximumBodyBytes = 10
        } test: { fixture in
            let refused = try await TestConnection.connect(to: fixture.address, isStubborn: true)
            try await refused.request("POST", "/", headers: ["Transfer-Encoding: chunked"])
            try await refused.send("b\r\nabcdefghijk\r\n")
            #expect(try await refused.response().status == 413)
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            #expect(try await client.response().status == 200)
            // This side was told of the end with the refusal; that the other has gone it learns when it goes on.
            try await Wait.until("the end of the refused connection") {
                do { try await refused.send("x") } catch { return true }
                return false
            }
        }
    }

    @Test func `the body of a request that was turned away at its head takes no room`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 1
            $0.maximumBodyBytes = 1000
            $0.maximumHeldBytes = 2000
        } test: { fixture in
            fixture.gate.close()
            let inside = try await fixture.connect()
            try await inside.request("GET", "/inside")
            await fixture.gate.hasArrivals(1)
            var clients: [TestConnection] = []
            for _ in 0..<3 {
                let client = try await fixture.connect()
                try await client.request("POST", "/", body: String(repeating: "x", count: 900))
                #expect(try await client.response().status == 503)
                // The next request is answered once the body has gone by.
                try await client.request("GET", "/")
                #expect(try await client.response().status == 503)
                clients.append(client)
            }
            fixture.gate.open()
            #expect(try await inside.response().status == 200)
            for client in clients {
                try await client.request("GET", "/after")
                #expect(try await client.response().body == "GET /after ")
            }
        }
    }

    @Test func `behind a proxy it is clients that are told apart, not connections of the proxy`() async throws {
        try await ListenerFixture.with {
            $0.maximumIncompleteConnections = 4
            $0.source = { request, _ in request.headerFields[HTTPField.Name("X-Forwarded-For") ?? .via] }
        } test: { fixture in
            func halfRequest(of source: String) async throws -> TestConnection {
                let client = try await fixture.connect()
                let headers = ["X-Forwarded-For: \(source)", "Expect: 100-continue", "Content-Length: 4"]
                try await client.request("POST", "/", headers: headers)
                #expect(try await client.response().status == 100)
                return client
            }
            let honest = try await halfRequest(of: "192.0.2.1")
            var flood: [TestConnection] = []
            for _ in 0..<3 { flood.append(try await halfRequest(of: "192.0.2.66")) }
            _ = try await fixture.connect()
            #expect(try await flood[0].end().isEmpty)
            try await honest.send("body")
            #expect(try await honest.response().body == "POST / body")
        }
    }

    @Test func `who sends more of bodies than there is room for loses the connection, not others`() async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 1000
            $0.maximumHeldBytes = 2000
        } test: { fixture in
            let piece = String(repeating: "x", count: 900)
            let clients = [
                try await fixture.connect(), try await fixture.connect(), try await fixture.connect(),
            ]
            for client in clients {
                try await client.request("POST", "/", headers: ["Expect: 100-continue", "Content-Length: 1000"])
                #expect(try await client.response().status == 100)
            }
            for client in clients { try await client.send(piece) }
            #expect(try await clients[0].end().isEmpty)
            for client in clients.dropFirst() {
                try await client.send(String(repeating: "y", count: 100))
                #expect(try await client.response().status == 200)
            }
        }
    }

    @Test func `who does not take the answer loses the connection when answers take too much room`() async throws {
        let (log, size) = (RecordedLog(), 24 << 20)
        try await ListenerFixture.with(
            { $0.maximumHeldBytes = 26 << 20 }, logger: log.logger,
            answering: { _, _, _ in
                Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 120, count: size)))
            },
            test: { fixture in
                let clients = [
                    try await TestConnection.connect(to: fixture.address, isReading: false),
                    try await TestConnection.connect(to: fixture.address, isReading: false),
                ]
                for client in clients {
                    try await client.request("GET", "/", headers: ["Connection: close"])
                }
                // The kernel takes less than ten of the 24 MiB of each.
                try await Wait.until("one to be told to go") {
                    log.lines.contains { $0.message.hasPrefix("Connections on which no request is worked on") }
                }
                var wholes = 0
                for client in clients {
                    try await client.startReading()
                    if try await client.end().utf8.count > size { wholes += 1 }
                }
                #expect(wholes == 1)
            })
    }

    // MARK: Who goes

    private func record(_ source: String, since: UInt64, _ activity: ConnectionRecord.Activity = .silent)
        -> ConnectionRecord
    {
        let record = ConnectionRecord(
            EmbeddedChannel(), source: source, at: .uptimeNanoseconds(since))
        record.turn(to: activity, at: .uptimeNanoseconds(since))
        return record
    }

    @Test func `the oldest of the source that takes the most goes`() {
        let honest = record("192.0.2.1", since: 1)
        let flood = (2..<6).map { record("192.0.2.66", since: UInt64($0)) }
        #expect(Eviction.victim(among: [honest] + flood.reversed()) === flood[0])
        honest.hold(bytes: 100)
        flood[2].hold(bytes: 30)
        #expect(Eviction.victim(among: [honest] + flood, room: \.heldBytes) === honest)
        #expect(Eviction.victim(among: []) == nil)
    }

    @Test func `of a source those go last that are at their answers, and never those at work`() {
        let working = record("192.0.2.66", since: 1, .working)
        let sending = record("192.0.2.66", since: 2, .sending)
        let idle = record("192.0.2.66", since: 3, .idle)
        let other = record("192.0.2.1", since: 0, .silent)
        #expect(Eviction.victim(among: [working, sending, idle, other]) === idle)
        #expect(Eviction.victim(among: [working, sending, other]) === sending)
        #expect(Eviction.victim(among: [working, other]) === other)
        #expect(Eviction.victim(among: [working]) == nil)
    }

    @Test
    func `when all connections are open, the source that has most of them loses its oldest, whatever it is about`()
        throws
    {
        let connections = OpenConnections(
            bounds: .init(connections: 4, incomplete: 4, leaving: 1, heldBytes: 1), logger: .quiet, whenOver: {})
        let loop = EmbeddedEventLoop()
        var isIn = false
        func open(_ address: String) throws -> (channel: EmbeddedChannel, evictions: Evictions) {
            let evictions = Evictions()
            let channel = EmbeddedChannel(handler: evictions, loop: loop)
            channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
            isIn = connections.insert(channel)
            loop.run()
            return (channel, evictions)
        }
        let honest = try open("192.0.2.1")
        let flood = try (0..<3).map { _ in try open("192.0.2.66") }
        for (number, connection) in flood.enumerated() {
            connections.record(of: connection.channel)?.turn(to: .idle, at: .uptimeNanoseconds(UInt64(number)))
        }
        #expect(connections.hasRoom())
        _ = try open("192.0.2.66")
        #expect(flood.map(\.evictions.count) == [1, 0, 0] && honest.evictions.count == 0)
        #expect(!connections.hasRoom(), "one is on its way out, and no more may be")
        connections.remove(flood[0].channel)
        #expect(connections.hasRoom())
        // Who is at work counts, and stays.
        for connection in flood[1...] { connections.record(of: connection.channel)?.turn(to: .working, at: .now()) }
        _ = try open("192.0.2.66")
        #expect(isIn && flood.map(\.evictions.count) == [1, 0, 0] && honest.evictions.count == 0)
    }

    @Test func `while all have work, nobody comes in and nobody goes`() throws {
        let connections = OpenConnections(
            bounds: .init(connections: 1, incomplete: 1, leaving: 1, heldBytes: 1), logger: .quiet, whenOver: {})
        let (working, next) = (EmbeddedChannel(), EmbeddedChannel())
        #expect(connections.insert(working))
        connections.record(of: working)?.turn(to: .working, at: .now())
        #expect(!connections.insert(next))
        #expect(connections.count == 1 && !connections.hasRoom())
        connections.record(of: working)?.turn(to: .idle, at: .now())
        #expect(connections.insert(next))
        #expect(connections.record(of: working)?.isLeaving == true)
    }

    private final class Evictions: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var count = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ConnectionEvictionEvent { count += 1 }
        }
    }

    @Test func `what a connection is about is kept with its time`() {
        let record = record("unix", since: 7, .receiving)
        #expect(record.activity.kind == .receiving && record.activity.since == .uptimeNanoseconds(7))
        #expect(record.isIncomplete)
        record.turn(to: .working, at: .uptimeNanoseconds(UInt64.max >> 3))
        #expect(!record.isIncomplete && record.activity.since == .uptimeNanoseconds(UInt64.max >> 3))
    }
}
