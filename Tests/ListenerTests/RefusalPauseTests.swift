import HTTPTypes
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import Listener

/// Refusals in masses wait, so that who asks again at once takes no time from those who were let in.
@Suite struct RefusalPauseTests {
    private static let get = "GET /more HTTP/1.1\r\nHost: test\r\n\r\n"
    private static let almost = RequestLimiter.refusalPause - .nanoseconds(1)

    /// A connection whose listener has no place left, and has refused as many as are refused at once.
    private func refusing() throws -> GuardedChannel {
        let guarded = try GuardedChannel()
        // Twice as many as it has places for: one for each who has none.
        for holder in ["another", "a third"] { #expect(guarded.limiter.admit(holder)) }
        for _ in 0..<RequestLimiter.promptRefusals {
            try guarded.receive(Self.get)
            #expect(try guarded.sent().hasPrefix("HTTP/1.1 503 "))
        }
        return guarded
    }

    @Test func `the refusal after many of the same second waits, and its connection stays`() throws {
        let guarded = try refusing()
        for _ in 0..<2 {
            try guarded.receive(Self.get)
            #expect(guarded.activity == .working, "so that nobody takes it for one that rests")
            guarded.pass(Self.almost)
            #expect(try guarded.sent().isEmpty)
            guarded.pass(.nanoseconds(1))
            #expect(try guarded.sent().hasPrefix("HTTP/1.1 503 "))
            #expect(guarded.activity == .idle)
        }
        guarded.limiter.leave("another")
        try guarded.receive(Self.get)
        #expect(try guarded.begun() == ["GET /more "])
    }

    @Test func `what is sent ahead of a refusal waits behind it`() throws {
        let guarded = try refusing()
        try guarded.receive(Self.get + "GET /next HTTP/1.1\r\nHost: test\r\n\r\n")
        guarded.limiter.leave("another")
        #expect(try guarded.begun() == [])
        guarded.pass(RequestLimiter.refusalPause)
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 503 "))
        #expect(try guarded.begun() == ["GET /next "])
    }

    @Test func `a body that comes during the pause is thrown away, and the next request begins behind it`() throws {
        let guarded = try refusing()
        try guarded.receive("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(guarded.connections.record(of: guarded.channel)?.heldBytes == 0)
        guarded.pass(Self.almost)
        try guarded.receive(" and ")
        guarded.pass(1)
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 503 "))
        guarded.limiter.leave("another")
        try guarded.receive(Self.get)
        #expect(try guarded.begun() == ["GET /more "])
    }

    @Test func `who leaves during the pause is sent nothing`() throws {
        let guarded = try refusing()
        try guarded.receive(Self.get)
        guarded.channel.pipeline.fireUserInboundEventTriggered(ConnectionAbortEvent())
        guarded.pass(1)
        #expect(try guarded.sent().isEmpty)
        #expect(!guarded.channel.isActive)
    }

    @Test func `what comes broken behind a refusal is answered after it`() throws {
        let guarded = try refusing()
        try guarded.receive(Self.get + "BROKEN\r\n\r\n")
        #expect(try guarded.sent().isEmpty)
        guarded.pass(RequestLimiter.refusalPause)
        let sent = try guarded.sent()
        #expect(sent.hasPrefix("HTTP/1.1 503 ") && sent.contains("HTTP/1.1 400 "))
    }

    @Test func `each second begins anew`() {
        let time = Mutex(NIODeadline.uptimeNanoseconds(5_000_000_000))
        let limiter = RequestLimiter(limit: 1, logger: .quiet) { time.withLock(\.self) }
        for _ in 0..<2 {
            for _ in 0..<RequestLimiter.promptRefusals { #expect(limiter.refuse() == nil) }
            #expect(limiter.refuse() == RequestLimiter.refusalPause)
            time.withLock { $0 = $0 + .milliseconds(999) }
            #expect(limiter.refuse() != nil)
            time.withLock { $0 = $0 + .milliseconds(1) }
        }
    }
}
