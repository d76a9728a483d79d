import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import TestSupport
import Testing

@Suite(.endsHangs) struct ServingTests {
    @Test func severalListenersServeAtOnce() async throws {
        let path = ListenerFixture.temporaryPath()
        try await ListenerFixture.with { tcp in
            try await ListenerFixture.with(address: .unix(path: path, mode: 0o600)) { unix in
                for fixture in [tcp, unix] {
                    let client = try await fixture.connect()
                    try await client.request("POST", "/path", body: "body")
                    let response = try await client.response()
                    #expect(response.status == 200)
                    #expect(response.body == "POST /path body")
                }
            }
        }
    }

    @Test func theResponderLearnsWhoAsks() async throws {
        let peer: Responder = { _, channel, _ in Response(text: channel.remoteAddress?.ipAddress ?? "nobody") }
        try await ListenerFixture.with(answering: peer) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            #expect(try await client.response().body == "127.0.0.1")
        }
        let path = ListenerFixture.temporaryPath()
        try await ListenerFixture.with(address: .unix(path: path, mode: 0o600), answering: peer) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            #expect(try await client.response().body == "nobody")
        }
    }

    @Test func aConnectionServesManyRequests() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            for number in 1...50 {
                try await client.request("PUT", "/\(number)", body: "x")
                let response = try await client.response()
                #expect(response.body == "PUT /\(number) x")
                #expect(response.headers["connection"] == nil)
            }
        }
    }

    @Test func anAnswerToHEADSaysTheLengthOfTheBodyThatItLacks() async throws {
        let respond: Responder = { request, _, _ in
            let whole = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "whole")))
            return request.method == .head ? whole.createHeadResponse() : whole
        }
        try await ListenerFixture.with(answering: respond) { fixture in
            let client = try await fixture.connect()
            for _ in 0..<3 {
                try await client.request("HEAD", "/")
                try await client.receive("Content-Length: 5\r\n\r\n")
                try await client.request("GET", "/")
                #expect(try await client.response().body == "whole")
            }
        }
    }

    @Test func pipelinedRequestsAreAnsweredInTheirOrder() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            let requests = (1...1000).map { "GET /\($0) HTTP/1.1\r\nHost: test\r\n\r\n" }
            try await client.send(requests.joined())
            for number in 1...1000 {
                #expect(try await client.response().body == "GET /\(number) ")
            }
        }
    }

    @Test func aBodyInChunksArrivesWhole() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/", headers: ["Transfer-Encoding: chunked"])
            try await client.send("3\r\nabc\r\n")
            try await client.send("2\r\nde\r\n0\r\n\r\n")
            #expect(try await client.response().body == "POST / abcde")
        }
    }

    @Test func aClientThatOnlyFinishesSendingGetsItsAnswer() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/half")
            try await client.finishSending()
            #expect(try await client.response().body == "GET /half ")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test(arguments: ["close", "Close", "keep-alive, close"])
    func aClientThatAsksForTheEndGetsIt(_ option: String) async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/", headers: ["Connection: \(option)"])
            #expect(try await client.response().headers["connection"] == "close")
            #expect(try await client.end().isEmpty)
        }
    }

    /// As Java's HTTP client does by default; NIO's decoder is deaf after such a request.
    @Test func anOfferOfAnotherProtocolIsDeclinedByAnAnswerThatEndsTheConnection() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.request(
                "POST", "/", headers: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAE"],
                body: "body")
            let response = try await client.response()
            #expect(response.body == "POST / body")
            #expect(response.headers["connection"] == "close")
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func aClientThatAsksBeforeItSendsItsBodyIsToldToGoOn() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/", headers: ["Expect: 100-continue", "Content-Length: 4"])
            #expect(try await client.response().status == 100)
            try await client.send("body")
            let response = try await client.response()
            #expect(response.status == 200)
            #expect(response.body == "POST / body")
        }
    }

    @Test func aBodyThatBreaksOffIsSeenByNobody() async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.request("POST", "/", headers: ["Transfer-Encoding: chunked"])
            try await client.send("3\r\nabc\r\n")
            try await client.finishSending()
            #expect(try await client.response().status == 400)
            #expect(try await client.end().isEmpty)
            #expect(fixture.gate.arrivals == 0)
        }
    }
}
