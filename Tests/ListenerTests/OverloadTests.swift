import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import TestSupport
import Testing

/// So many requests are worked on at once; who comes beyond that is shed at once and loses nothing by it.
@Suite(.endsHangs) struct OverloadTests {
    private func expectTurnedAway(_ client: TestConnection, closing: Bool = false) async throws {
        let response = try await client.response()
        #expect(response.status == 503)
        #expect(response.headers["retry-after"] == "1")
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(response.headers["connection"] == (closing ? "close" : nil))
    }

    /// Two requests that wait behind the gate, each on a connection of its own.
    private func fill(_ fixture: ListenerFixture) async throws -> [TestConnection] {
        fixture.gate.close()
        let clients = [try await fixture.connect(), try await fixture.connect()]
        for client in clients { try await client.request("GET", "/inside") }
        await fixture.gate.hasArrivals(2)
        return clients
    }

    private func finish(_ clients: [TestConnection], _ fixture: ListenerFixture) async throws {
        fixture.gate.open()
        for client in clients { #expect(try await client.response().body == "GET /inside ") }
    }

    @Test func `the third request is turned away, and served once another is answered`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 2
        } test: { fixture in
            let inside = try await fill(fixture)
            let third = try await fixture.connect()
            for _ in 0..<3 {
                try await third.request("GET", "/third")
                try await expectTurnedAway(third)
            }
            #expect(fixture.gate.arrivals == 2, "it has not reached the responder")
            try await finish(inside, fixture)
            try await third.request("GET", "/third")
            #expect(try await third.response().body == "GET /third ", "on the connection that it had")
        }
    }

    @Test func `a HEAD request that is turned away gets no body, and its connection stays`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 2
        } test: { fixture in
            let inside = try await fill(fixture)
            let third = try await fixture.connect()
            try await third.request("HEAD", "/third")
            try await third.receive("\r\n\r\n")
            try await third.request("GET", "/third")
            try await expectTurnedAway(third)
            try await finish(inside, fixture)
        }
    }

    @Test func `the body of a request that is turned away is read and forgotten`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 2
        } test: { fixture in
            let inside = try await fill(fixture)
            let third = try await fixture.connect()
            try await third.request("POST", "/third", headers: ["Transfer-Encoding: chunked"])
            try await expectTurnedAway(third)
            try await third.send("3\r\nabc\r\n")
            try await finish(inside, fixture)
            // The next request on the connection begins where the body ends, though there is room by now.
            try await third.send("3\r\ndef\r\n0\r\n\r\n")
            try await third.request("POST", "/next", body: "xyz")
            #expect(try await third.response().body == "POST /next xyz")
        }
    }

    @Test func `a client that waits for leave to send its body is turned away with the connection`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 2
        } test: { fixture in
            let inside = try await fill(fixture)
            let third = try await fixture.connect()
            try await third.request("POST", "/", headers: ["Expect: 100-continue", "Content-Length: 3"])
            try await expectTurnedAway(third, closing: true)
            #expect(try await third.end().isEmpty)
            try await finish(inside, fixture)
        }
    }

    @Test func `requests that a client sends ahead take one place`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 1
        } test: { fixture in
            fixture.gate.close()
            let ahead = try await fixture.connect()
            let request = "GET /ahead HTTP/1.1\r\nHost: test\r\n\r\n"
            try await ahead.send(request + request + request)
            await fixture.gate.hasArrivals(1)
            let other = try await fixture.connect()
            try await other.request("GET", "/other")
            try await expectTurnedAway(other)
            fixture.gate.open()
            for _ in 0..<3 { #expect(try await ahead.response().body == "GET /ahead ") }
            try await other.request("GET", "/other")
            #expect(try await other.response().body == "GET /other ")
        }
    }

    @Test func `a client that goes away gives its place back`() async throws {
        let (gate, cancelled) = (Gate(), Gate())
        gate.close()
        try await ListenerFixture.with {
            $0.maximumRequests = 1
        } answering: { _, _, _ in
            await gate.pass()
            if Task.isCancelled { await cancelled.pass() }
            return Response(status: .ok, headers: [.contentLength: "0"])
        } test: { fixture in
            let leaving = try await fixture.connect()
            try await leaving.request("GET", "/")
            await gate.hasArrivals(1)
            try await leaving.close()
            await cancelled.hasArrivals(1)
            gate.open()
            try await answered(by: fixture)
        }
    }

    @Test func `a request that idles takes no place, and has one again when it goes on`() async throws {
        let (idle, working) = (Gate(), Gate())
        idle.close()
        working.close()
        try await ListenerFixture.with {
            $0.maximumRequests = 1
        } answering: { request, _, connection in
            if request.uri.path == "/idle" {
                connection.slot.beginIdling()
                await idle.pass()
                connection.slot.endIdling()
                await working.pass()
            }
            return Response(status: .ok, headers: [.contentLength: "0"])
        } test: { fixture in
            let idling = try await fixture.connect()
            try await idling.request("GET", "/idle")
            await idle.hasArrivals(1)
            let other = try await fixture.connect()
            try await other.request("GET", "/")
            #expect(try await other.response().status == 200)
            idle.open()
            await working.hasArrivals(1)
            try await other.request("GET", "/")
            try await expectTurnedAway(other)
            working.open()
            #expect(try await idling.response().status == 200)
            try await answered(by: fixture)
        }
    }

    @Test func `what the owner says is what is answered, and said once for each`() async throws {
        let (gate, asked) = (Gate(), Gate())
        gate.close()
        try await ListenerFixture.with {
            $0.maximumRequests = 1
        } answering: { _, _, _ in
            await gate.pass()
            return Response(status: .ok, headers: [.contentLength: "0"])
        } answeringOverload: { request in
            Task { await asked.pass() }
            let head = HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "7"])
            return (head, ByteBuffer(string: "no room for \(request.path ?? "")"))
        } test: { fixture in
            let inside = try await fixture.connect()
            try await inside.request("GET", "/")
            await gate.hasArrivals(1)
            let other = try await fixture.connect()
            try await other.request("GET", "/other")
            let response = try await other.response()
            #expect(response.headers["retry-after"] == "7")
            #expect(response.body == "no room for /other")
            await asked.hasArrivals(1)
            gate.open()
            #expect(try await inside.response().status == 200)
        }
        #expect(asked.arrivals == 1)
    }

    @Test func `hundreds that come at once are all answered, and no more than may be are worked on`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 8
        } test: { fixture in
            fixture.gate.close()
            let clients = try await withThrowingTaskGroup { group in
                for _ in 0..<200 { group.addTask { try await fixture.connect() } }
                return try await group.reduce(into: [TestConnection]()) { $0.append($1) }
            }
            for client in clients { try await client.request("GET", "/") }
            await fixture.gate.hasArrivals(8)
            let statuses = try await withThrowingTaskGroup { group in
                for client in clients { group.addTask { try await client.response().status } }
                var statuses: [Int] = []
                for try await status in group {
                    statuses.append(status)
                    // Those inside are answered last of all.
                    if statuses.count == 192 {
                        #expect(fixture.gate.arrivals == 8)
                        fixture.gate.open()
                    }
                }
                return statuses
            }
            #expect(statuses.count { $0 == 503 } == 192)
            #expect(statuses.count { $0 == 200 } == 8)
        }
    }

    /// A place is given back a moment after its answer or connection has ended.
    private func answered(by fixture: ListenerFixture) async throws {
        let client = try await fixture.connect()
        while true {
            try await client.request("GET", "/")
            if try await client.response().status == 200 { return }
        }
    }
}
