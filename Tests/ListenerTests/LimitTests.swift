import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite(.endsHangs) struct LimitTests {
    private func expectRefusal(_ response: TestResponse, _ status: Int, _ title: String) {
        #expect(response.status == status)
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(response.headers["connection"] == "close")
        #expect(response.body == #"{"type":"about:blank","title":"\#(title)","status":\#(status)}"#)
    }

    /// A responder that must not be reached.
    private let unreachable: Responder = { _, _, _ in
        Issue.record("the request reached its responder")
        return Response(text: "")
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: test\r\nA: \(String(repeating: "a", count: 2000))\r\n\r\n",
        "GET /\(String(repeating: "a", count: 2000)) HTTP/1.1\r\nHost: test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: test\r\n" + (1...11).map { "A\($0): \($0)\r\n" }.joined() + "\r\n",
    ])
    func aHeadOverTheLimitsIs431(_ request: String) async throws {
        try await ListenerFixture.with {
            $0.maximumHeaderBytes = 1000
            $0.maximumHeaderCount = 10
        } answering: {
            await unreachable($0, $1, $2)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.send(request)
            expectRefusal(try await client.response(), 431, "Request Header Fields Too Large")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func aBodyDeclaredTooLargeIs413BeforeItArrives() async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 1000
        } answering: {
            await unreachable($0, $1, $2)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/", headers: ["Content-Length: 1001"])
            expectRefusal(try await client.response(), 413, "Content Too Large")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func aBodyAtTheLimitPasses() async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 1000
        } test: { fixture in
            let client = try await fixture.connect()
            let body = String(repeating: "b", count: 1000)
            try await client.request("POST", "/", body: body)
            #expect(try await client.response().body == "POST / \(body)")
        }
    }

    @Test func aBodyInChunksBeyondTheLimitIs413AndNobodySeesIt() async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 10
        } answering: {
            await unreachable($0, $1, $2)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/", headers: ["Transfer-Encoding: chunked"])
            try await client.send("6\r\nabcdef\r\n")
            try await client.send("6\r\nghijkl\r\n")
            expectRefusal(try await client.response(), 413, "Content Too Large")
            #expect(try await client.end().isEmpty)
        }
    }

    /// Bytes that nobody reads would make the kernel send a reset, on which the client loses the answer.
    @Test func aClientThatGoesOnSendingStillSeesTheAnswer() async throws {
        try await ListenerFixture.with(answering: unreachable) { fixture in
            let client = try await fixture.connect()
            let body = String(repeating: "b", count: 8_000_000)
            try await client.request("POST", "/", headers: ["Content-Length: \(body.utf8.count)"])
            let sending = Task { try await client.send(body) }
            expectRefusal(try await client.response(), 413, "Content Too Large")
            // It may or may not get rid of the rest.
            _ = await sending.result
        }
    }

    /// Refuses what is under a path.
    private static let refusing: @Sendable (HTTPRequest) -> EarlyAnswer? = { request in
        guard request.path == "/nothing" else { return nil }
        return (HTTPResponse(status: .notFound), ByteBuffer(string: "nothing"))
    }

    @Test func whatIsRefusedByItsHeadIsAnsweredBeforeItsBodyIsThereAndTheConnectionStays() async throws {
        try await ListenerFixture.with {
            $0.refusal = Self.refusing
        } test: { fixture in
            let client = try await fixture.connect()
            for _ in 0..<2 {
                try await client.request("POST", "/nothing", headers: ["Content-Length: 6"])
                let refused = try await client.response()
                #expect((refused.status, refused.body, refused.headers["connection"]) == (404, "nothing", nil))
                try await client.send("abcdef")
                try await client.request("GET", "/nothing")
                #expect(try await client.response().status == 404)
                #expect(fixture.gate.arrivals == 0)
            }
            try await client.request("POST", "/something", body: "body")
            #expect(try await client.response().body == "POST /something body")
        }
    }

    @Test func whoWaitsForLeaveToSendTheBodyOfWhatIsRefusedByItsHeadLosesTheConnection() async throws {
        try await ListenerFixture.with {
            $0.refusal = Self.refusing
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/nothing", headers: ["Expect: 100-continue", "Content-Length: 6"])
            let refused = try await client.response()
            #expect((refused.status, refused.headers["connection"]) == (404, "close"))
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func whatIsRefusedByItsHeadIsAnsweredInItsTurn() async throws {
        let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let test: @Sendable (ListenerFixture) async throws -> Void = { fixture in
            fixture.gate.close()
            let client = try await fixture.connect()
            try await client.send(
                "POST /first HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbodyGET /nothing HTTP/1.1\r\nHost: test\r\n\r\n"
            )
            await fixture.gate.hasArrivals(1)
            // What came in one piece has all been taken in when the event loop has time for something else.
            try await eventLoops.next().submit {}.get()
            fixture.gate.open()
            #expect(try await client.response().body == "POST /first body")
            #expect(try await client.response().body == "GET /nothing ", "it had begun when another was worked on")
        }
        try await ListenerFixture.with({ $0.refusal = Self.refusing }, eventLoops: eventLoops, test: test)
        try await eventLoops.shutdownGracefully()
    }

    @Test func aRefusalWaitsForItsTurn() async throws {
        try await ListenerFixture.with { fixture in
            fixture.gate.close()
            let client = try await fixture.connect()
            try await client.send("GET /first HTTP/1.1\r\nHost: test\r\n\r\nGET /second HTTP/1.1\r\nHost: test\r\n\r\n")
            try await client.send("BROKEN\r\n\r\n")
            await fixture.gate.hasArrivals(1)
            fixture.gate.open()
            #expect(try await client.response().body == "GET /first ")
            #expect(try await client.response().body == "GET /second ")
            expectRefusal(try await client.response(), 400, "Bad Request")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func connectionsOverTheLimitWaitWhileAllOthersAreAtWork() async throws {
        try await ListenerFixture.with {
            $0.maximumConnections = 2
            $0.maximumIncompleteConnections = 2
        } test: { fixture in
            fixture.gate.close()
            let (first, second) = (try await fixture.connect(), try await fixture.connect())
            for client in [first, second] { try await client.request("GET", "/") }
            await fixture.gate.hasArrivals(2)
            let waiting = try await fixture.connect()
            try await waiting.request("GET", "/waiting")
            #expect(fixture.gate.arrivals == 2)
            fixture.gate.open()
            for client in [first, second] { #expect(try await client.response().status == 200) }
            // One of the two, which nobody uses now, makes room.
            #expect(try await waiting.response().body == "GET /waiting ")
        }
    }
}
