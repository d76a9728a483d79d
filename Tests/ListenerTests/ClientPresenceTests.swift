import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import TestSupport
import Testing

/// What is begun for a client ends when the client does.
@Suite(.endsHangs)
struct ClientPresenceTests {
    private static let answer = Response(
        status: .ok, headers: [.contentLength: "2"], body: ResponseBody(byteBuffer: ByteBuffer(string: "ok")))

    /// Waits at a gate that nobody opens: only cancellation lets it pass.
    private static func waiting(
        at gate: Gate, cancelled: Gate
    ) -> Responder {
        { _, _, _ in
            await gate.pass()
            if Task.isCancelled { await cancelled.pass() }
            return answer
        }
    }

    @Test func `work for a client that closes is cancelled`() async throws {
        let (gate, cancelled) = (Gate(), Gate())
        gate.close()
        try await ListenerFixture.with(answering: Self.waiting(at: gate, cancelled: cancelled)) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            await gate.hasArrivals(1)
            try await client.close()
            await cancelled.hasArrivals(1)
        }
    }

    @Test func `work for the second of two requests sent together is cancelled too`() async throws {
        let (gate, cancelled) = (Gate(), Gate())
        gate.close()
        let wait = Self.waiting(at: gate, cancelled: cancelled)
        let respond: Responder = { request, channel, connection in
            if request.uri.path == "/at-once" { return Self.answer }
            return await wait(request, channel, connection)
        }
        try await ListenerFixture.with(answering: respond) { fixture in
            let client = try await fixture.connect()
            try await client.send("GET /at-once HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.hasArrivals(1)
            try await client.close()
            await cancelled.hasArrivals(1)
        }
    }

    @Test func `an answer that exists reaches a client that only finishes sending`() async throws {
        let (gate, cancelled) = (Gate(), Gate())
        gate.close()
        try await ListenerFixture.with(answering: Self.waiting(at: gate, cancelled: cancelled)) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            await gate.hasArrivals(1)
            try await client.finishSending()
            #expect(try await client.response().body == "ok")
        }
    }

    @Test func `one request after the other is answered on a connection that stays`() async throws {
        let respond: Responder = { _, _, _ in Self.answer }
        try await ListenerFixture.with(answering: respond) { fixture in
            let client = try await fixture.connect()
            for _ in 0..<20 {
                try await client.request("GET", "/")
                #expect(try await client.response().body == "ok")
            }
        }
    }

    @Test func `other clients do not notice`() async throws {
        let (gate, cancelled) = (Gate(), Gate())
        gate.close()
        try await ListenerFixture.with(answering: Self.waiting(at: gate, cancelled: cancelled)) { fixture in
            let (leaving, staying) = (try await fixture.connect(), try await fixture.connect())
            try await staying.request("GET", "/")
            try await leaving.request("GET", "/")
            await gate.hasArrivals(2)
            try await leaving.close()
            await cancelled.hasArrivals(1)
            gate.open()
            #expect(try await staying.response().body == "ok")
            #expect(cancelled.arrivals == 1)
        }
    }
}
