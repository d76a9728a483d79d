import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import TestSupport
import Testing

/// The limits in time on real sockets; `ConnectionGuardTests` has their exact lengths.
@Suite(.endsHangs) struct DeadlineTests {
    @Test func aHeadThatDoesNotEndIs408() async throws {
        try await ListenerFixture.with {
            $0.requestReadTimeout = .milliseconds(50)
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf")
            #expect(try await client.response().status == 408)
            #expect(try await client.end().isEmpty)
            #expect(fixture.gate.arrivals == 0)
        }
    }

    @Test func aConnectionThatNobodyUsesIsClosed() async throws {
        try await ListenerFixture.with {
            $0.idleTimeout = .milliseconds(50)
        } test: { fixture in
            let client = try await fixture.connect()
            #expect(try await client.end().isEmpty)
        }
    }

    @Test func aClientThatDoesNotReadIsDisconnected() async throws {
        let (outcomes, continuation) = AsyncStream.makeStream(of: Void.self)
        try await ListenerFixture.with {
            $0.responseWriteTimeout = .milliseconds(50)
        } answering: { _, _, _ in
            // A gigabyte does not fit any buffer: it gets to the end only when the client is given up.
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    defer { continuation.yield() }
                    let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: 1_000_000)
                    for _ in 1...1000 { try await writer.write(piece) }
                    try await writer.finish(nil)
                })
        } test: { fixture in
            let client = try await TestConnection.connect(to: fixture.address, isReading: false)
            try await client.request("GET", "/")
            #expect(await outcomes.first { _ in true } != nil)
            try await client.close()
        }
    }
}
