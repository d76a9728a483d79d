import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import TestSupport
import Testing

/// The limits in time, each as short as what must happen within it allows; no test claims how long anything took.
@Suite(.timeLimit(.minutes(2))) struct DeadlineTests {
    @Test func aHeadThatDoesNotEndIs408() async throws {
        try await ListenerFixture.with {
            $0.requestReadTimeout = .milliseconds(50)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.send("GET / HTTP/1.1\r\nHost: te")
            let response = try await client.response()
            #expect(response.status == 408)
            #expect(response.headers["connection"] == "close")
            #expect(await client.end().isEmpty)
        }
    }

    @Test func drippingBytesDoNotBuyTime() async throws {
        try await ListenerFixture.with {
            $0.requestReadTimeout = .milliseconds(50)
        } test: { fixture in
            let client = try await fixture.connect()
            let dripping = Task {
                try await client.send("GET / HTTP/1.1\r\n")
                while !Task.isCancelled { try await client.send("A: b\r\n") }
            }
            // 431, should the machine be so fast that the limit on fields is reached first.
            #expect([408, 431].contains(try await client.response().status))
            dripping.cancel()
            _ = await dripping.result
        }
    }

    @Test func aBodyThatDoesNotEndIs408AndItsResponderIsTold() async throws {
        let (outcomes, continuation) = AsyncStream.makeStream(of: String.self)
        try await ListenerFixture.with {
            $0.requestReadTimeout = .milliseconds(50)
        } responder: { request, writer, _ in
            do {
                continuation.yield(String(buffer: try await request.body.collect(upTo: .max)))
            } catch {
                continuation.yield("refused")
            }
            try await writer.answer("must not be seen")
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf")
            #expect(try await client.response().status == 408)
            #expect(await client.end().isEmpty)
            #expect(await outcomes.first { _ in true } == "refused")
        }
    }

    @Test func aConnectionThatNobodyUsesIsClosed() async throws {
        try await ListenerFixture.with {
            $0.idleTimeout = .milliseconds(50)
        } test: { fixture in
            let client = try await fixture.connect()
            #expect(await client.end().isEmpty)
        }
    }

    @Test func aConnectionThatIsNoLongerUsedIsClosed() async throws {
        try await ListenerFixture.with {
            $0.idleTimeout = .seconds(2)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            #expect(try await client.response().status == 200)
            #expect(await client.end().isEmpty)
        }
    }

    @Test func aSlowResponderIsNoFaultOfTheClient() async throws {
        try await ListenerFixture.with {
            $0.idleTimeout = .seconds(2)
            $0.requestReadTimeout = .seconds(1)
        } test: { fixture in
            fixture.gate.close()
            let client = try await fixture.connect()
            try await client.request("POST", "/", body: "body")
            await fixture.gate.hasArrivals(1)
            // It begins later than the first's request and ends at the limit, which has then passed for both.
            #expect(try await fixture.connect().end().isEmpty)
            fixture.gate.open()
            #expect(try await client.response().body == "POST / body")
        }
    }

    @Test func aResponderThatDoesNotReadIsNoFaultOfTheClient() async throws {
        let mayRead = Gate()
        mayRead.close()
        try await ListenerFixture.with {
            $0.idleTimeout = .seconds(2)
            $0.requestReadTimeout = .seconds(1)
            $0.maximumBodyBytes = 4_000_000
        } responder: { request, writer, _ in
            await mayRead.pass()
            var count = 0
            for try await buffer in request.body { count += buffer.readableBytes }
            try await writer.answer("\(count)")
        } test: { fixture in
            let client = try await fixture.connect()
            let body = String(repeating: "b", count: 4_000_000)
            let sending = Task { try await client.request("POST", "/", body: body) }
            await mayRead.hasArrivals(1)
            // It ends at a limit that is longer than the one in question.
            #expect(try await fixture.connect().end().isEmpty)
            mayRead.open()
            #expect(try await client.response().body == "4000000")
            try await sending.value
        }
    }

    @Test func aClientThatDoesNotReadIsDisconnected() async throws {
        let (outcomes, continuation) = AsyncStream.makeStream(of: String.self)
        try await ListenerFixture.with {
            $0.responseWriteTimeout = .milliseconds(50)
        } responder: { _, writer, _ in
            let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: 1_000_000)
            do {
                var body = try await writer.writeHead(HTTPResponse(status: .ok))
                for _ in 1...1000 { try await body.write(piece) }
                try await body.finish(nil)
                continuation.yield("all written")
            } catch {
                continuation.yield("disconnected")
            }
        } test: { fixture in
            let client = try await TestConnection.connect(to: fixture.address, isReading: false)
            try await client.request("GET", "/")
            #expect(await outcomes.first { _ in true } == "disconnected")
            try await client.close()
        }
    }
}
