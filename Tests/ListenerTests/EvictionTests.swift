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
            $0.maximumConnections = 8
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

    @Test func `who sends more of bodies than there is room for loses the connection, not others`() async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 1000
            $0.maximumIncompleteBytes = 2000
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

    @Test func `what a connection is about is kept with its time`() {
        let record = record("unix", since: 7, .receiving)
        #expect(record.activity.kind == .receiving && record.activity.since == .uptimeNanoseconds(7))
        #expect(record.isIncomplete)
        record.turn(to: .working, at: .uptimeNanoseconds(UInt64.max >> 3))
        #expect(!record.isIncomplete && record.activity.since == .uptimeNanoseconds(UInt64.max >> 3))
    }
}
