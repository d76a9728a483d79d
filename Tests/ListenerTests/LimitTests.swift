import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
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
    private let unreachable: HTTPChannelHandler.Responder = { _, writer, _ in
        Issue.record("the request reached its responder")
        try await writer.answer("")
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
        } responder: {
            try await unreachable($0, $1, $2)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.send(request)
            expectRefusal(try await client.response(), 431, "Request Header Fields Too Large")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test(arguments: [
        ("NONSENSE\r\n\r\n", 400, "Bad Request"),
        ("GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "Bad Request"),
        ("GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Bad Request"),
        ("GET  HTTP/1.1\r\n\r\n", 400, "Bad Request"),
        ("GET / HTTP/2.0\r\n\r\n", 505, "HTTP Version Not Supported"),
    ])
    func whatIsNotHTTP1IsRefused(_ request: String, _ status: Int, _ title: String) async throws {
        try await ListenerFixture.with(responder: unreachable) { fixture in
            let client = try await fixture.connect()
            try await client.send(request)
            expectRefusal(try await client.response(), status, title)
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func aBodyDeclaredTooLargeIs413BeforeItArrives() async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 1000
        } responder: {
            try await unreachable($0, $1, $2)
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

    @Test func aBodyInChunksBeyondTheLimitIs413AndItsResponderIsTold() async throws {
        let (outcomes, continuation) = AsyncStream.makeStream(of: String.self)
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 10
        } responder: { request, writer, _ in
            do {
                continuation.yield(String(buffer: try await request.body.collect(upTo: .max)))
            } catch {
                continuation.yield("refused")
            }
            try await writer.answer("must not be seen")
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/", headers: ["Transfer-Encoding: chunked"])
            try await client.send("6\r\nabcdef\r\n")
            try await client.send("6\r\nghijkl\r\n")
            expectRefusal(try await client.response(), 413, "Content Too Large")
            #expect(try await client.end().isEmpty)
            #expect(await outcomes.first { _ in true } == "refused")
        }
    }

    /// Bytes that nobody reads would make the kernel send a reset, on which the client loses the answer.
    @Test func aClientThatGoesOnSendingStillSeesTheAnswer() async throws {
        try await ListenerFixture.with(responder: unreachable) { fixture in
            let client = try await fixture.connect()
            let body = String(repeating: "b", count: 8_000_000)
            try await client.request("POST", "/", headers: ["Content-Length: \(body.utf8.count)"])
            let sending = Task { try await client.send(body) }
            expectRefusal(try await client.response(), 413, "Content Too Large")
            // It may or may not get rid of the rest.
            _ = await sending.result
        }
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

    @Test func anAnswerThatHasBegunIsCutOffRatherThanMixed() async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 10
        } responder: { request, writer, _ in
            var body = try await writer.writeHead(
                HTTPResponse(status: .ok, headerFields: [.contentLength: "1000"]))
            try await body.write(ByteBuffer(string: "begun"))
            for try await _ in request.body {}
            try await body.finish(nil)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/", headers: ["Transfer-Encoding: chunked"])
            try await client.receive("begun")
            try await client.send("b\r\nabcdefghijk\r\n")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func connectionsOverTheLimitWaitUntilOneCloses() async throws {
        try await ListenerFixture.with {
            $0.maximumConnections = 2
        } test: { fixture in
            let (first, second) = (try await fixture.connect(), try await fixture.connect())
            for client in [first, second] {
                try await client.request("GET", "/")
                #expect(try await client.response().status == 200)
            }
            let waiting = try await fixture.connect()
            try await waiting.request("GET", "/waiting")
            for _ in 1...20 {
                try await first.request("GET", "/")
                #expect(try await first.response().status == 200)
            }
            #expect(fixture.gate.arrivals == 22, "the third connection has not been served")
            try await second.close()
            #expect(try await waiting.response().body == "GET /waiting ")
        }
    }
}
