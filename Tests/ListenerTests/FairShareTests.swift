import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Listener

/// When places are scarce they are shared out: who takes them all keeps nobody out.
@Suite(.endsHangs) struct FairShareTests {
    // MARK: On sockets

    private static let caller = HTTPField.Name("X-Caller") ?? .via

    /// A listener that learns of each request whose it is, and lets it wait behind a gate unless it is for `/quick`.
    private func serving(
        places: Int, behind gate: Gate, asked: Gate = Gate(),
        test: @Sendable (ListenerFixture) async throws -> Void
    ) async throws {
        try await ListenerFixture.with(maximumRequests: places) {
            $0.sharesRequestsByCaller = true
        } answering: { request, _, connection in
            await asked.pass()
            let name = request.headers[Self.caller] ?? ""
            guard connection.slot.belongs(to: name, showing: request.headers[.authorization]) else {
                return Response(status: .tooManyRequests, headers: [.contentLength: "0"])
            }
            if request.uri.path != "/quick" { await gate.pass() }
            return Response(status: .ok, headers: [.contentLength: "0"])
        } test: { fixture in
            try await test(fixture)
            gate.open()
        }
    }

    private func ask(
        _ path: String = "/", as caller: String, on connection: TestConnection, showing token: String? = nil
    ) async throws {
        let headers = ["X-Caller: \(caller)", "Authorization: Bearer \(token ?? caller)"]
        try await connection.request("GET", path, headers: headers)
    }

    @Test func `nine callers are let in beside one that has taken every place`() async throws {
        let gate = Gate()
        gate.close()
        try await serving(places: 20, behind: gate) { fixture in
            var inside: [TestConnection] = []
            func letIn(_ caller: String) async throws {
                let connection = try await fixture.connect()
                try await ask(as: caller, on: connection)
                inside.append(connection)
                await gate.hasArrivals(inside.count)
            }
            for _ in 0..<20 { try await letIn("greedy") }
            for round in 1...2 {
                for number in 1...9 { try await letIn("caller\(number)") }
                for _ in 0..<20 {
                    let connection = try await fixture.connect()
                    try await ask(as: "greedy", on: connection)
                    #expect(try await connection.response().status == 429)
                    try await connection.close()
                }
                #expect(gate.arrivals == 20 + round * 9)
            }
            gate.open()
            for connection in inside { #expect(try await connection.response().status == 200) }
        }
    }

    @Test func `whose connection is known is shed before anybody looks at the request`() async throws {
        let (gate, asked) = (Gate(), Gate())
        gate.close()
        try await serving(places: 2, behind: gate, asked: asked) { fixture in
            let known = try await fixture.connect()
            try await ask("/quick", as: "greedy", on: known)
            #expect(try await known.response().status == 200)
            var waiting: [TestConnection] = []
            for number in 1...2 {
                let connection = try await fixture.connect()
                try await ask(as: "greedy", on: connection)
                await gate.hasArrivals(number)
                waiting.append(connection)
            }
            try await ask("/quick", as: "greedy", on: known)
            #expect(try await known.response().status == 503)
            #expect(asked.arrivals == 3)
            // A proxy's connection carries requests of many.
            try await ask("/quick", as: "other", on: known)
            #expect(try await known.response().status == 200)
            #expect(asked.arrivals == 4)
            gate.open()
            for connection in waiting { #expect(try await connection.response().status == 200) }
        }
    }

    @Test func `where nobody names callers the places are shared out among sources`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 4
        } test: { fixture in
            fixture.gate.close()
            var inside: [TestConnection] = []
            for source in ["127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.1"] {
                let client = try await fixture.connect(from: source)
                try await client.request("GET", "/inside")
                inside.append(client)
                await fixture.gate.hasArrivals(inside.count)
            }
            for body in ["", "body"] {
                let greedy = try await fixture.connect(from: "127.0.0.2")
                try await greedy.request("POST", "/more", body: body)
                #expect(try await greedy.response().status == 503)
            }
            fixture.gate.open()
            for client in inside { #expect(try await client.response().body == "GET /inside ") }
        }
    }

    @Test func `a source may have a share for each thing that it asks for`() async throws {
        try await ListenerFixture.with {
            $0.maximumRequests = 4
            $0.holder = { request, source in "\(source) \(request.path ?? "")" }
        } test: { fixture in
            fixture.gate.close()
            var inside: [TestConnection] = []
            for path in ["/one", "/one", "/one", "/one", "/other"] {
                let client = try await fixture.connect()
                try await client.request("GET", path)
                inside.append(client)
                await fixture.gate.hasArrivals(inside.count)
            }
            let greedy = try await fixture.connect()
            try await greedy.request("GET", "/one")
            #expect(try await greedy.response().status == 503)
            fixture.gate.open()
            for client in inside { #expect(try await client.response().status == 200) }
        }
    }

    // MARK: Who gets a place

    private final class Time: Sendable {
        private let time = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000))

        var now: NIODeadline { time.withLock(\.self) }

        func pass(_ amount: TimeAmount) { time.withLock { $0 = $0 + amount } }
    }

    private func limiter(_ limit: Int?, _ time: Time = Time()) -> RequestLimiter {
        RequestLimiter(limit: limit, isSharedByCaller: true, logger: .quiet, now: { time.now })
    }

    /// How many of so many requests are let in.
    private func admit(_ count: Int, _ holder: String?, _ limiter: RequestLimiter) -> Int {
        (0..<count).count { _ in limiter.admit(holder) }
    }

    @Test func `one alone gets every place, and what it gives back goes to the others first`() {
        let limiter = limiter(100)
        #expect(admit(1000, "greedy", limiter) == 100)
        for number in 1...9 { #expect(admit(10, "caller\(number)", limiter) == 10) }
        // The greedy one, which goes on asking, gives back what it has.
        for _ in 0..<90 {
            limiter.leave("greedy")
            #expect(!limiter.admit("greedy"))
        }
        limiter.leave("greedy")
        #expect(limiter.admit("greedy"), "nobody else wants the rest")
        for number in 1...9 {
            #expect(!limiter.hasRoom(for: "caller\(number)"), "ten of a hundred are its share")
        }
        limiter.leave("caller1")
        #expect(limiter.hasRoom(for: "caller1"))
    }

    @Test func `there are never more than twice as many, whoever comes`() {
        let limiter = limiter(10)
        #expect((0..<100).count { limiter.admit("caller\($0)") } == 20)
        #expect(!limiter.admit(nil))
        for number in 0..<20 { limiter.leave("caller\(number)") }
        #expect(admit(100, nil, limiter) == 20, "of whom nobody knows whose they are")
    }

    @Test func `who turns out to hold more than its share keeps no place`() {
        let limiter = limiter(4)
        #expect(admit(4, "greedy", limiter) == 4)
        #expect(limiter.admit(nil))
        #expect(!limiter.pass(from: nil, to: "greedy"))
        #expect(limiter.pass(from: nil, to: "other"))
        for holder in ["greedy", "greedy", "greedy", "greedy", "other"] { limiter.leave(holder) }
        #expect(admit(9, "greedy", limiter) == 4, "all places were given back")
    }

    @Test func `where the processor is scarce, who has more than its share of the places gets no more`() throws {
        let time = Time()
        let limiter = limiter(100, time)
        #expect(admit(60, "greedy", limiter) == 60)
        limiter.leave("greedy")
        /// Lets somebody's request wait before it is gone on with.
        func ask(_ caller: String, waiting wait: TimeAmount) throws -> Bool {
            try #require(limiter.admit(nil))
            defer { limiter.leave(caller) }
            let isIn = limiter.pass(from: nil, to: caller)
            let arrival = time.now
            time.pass(wait)
            limiter.noteWait(since: arrival)
            return isIn
        }
        #expect(try ask("other", waiting: .milliseconds(50)))
        #expect(limiter.hasRoom(for: "greedy"), "a single one that was slow tells nothing")
        for _ in 0..<3 { #expect(try ask("other", waiting: .milliseconds(50))) }
        #expect(!limiter.hasRoom(for: "greedy"))
        #expect(limiter.hasRoom(for: "other") && limiter.hasRoom(for: "third"))
        // Fifty places each.
        for _ in 0..<10 { limiter.leave("greedy") }
        #expect(limiter.hasRoom(for: "greedy"))
        #expect(limiter.admit("greedy"))
        #expect(!limiter.hasRoom(for: "greedy"))
        #expect(try ask("other", waiting: .milliseconds(5)))
        #expect(limiter.hasRoom(for: "greedy"), "they are gone on with soon again")
    }

    @Test func `who is alone gets every place, however long its requests wait`() throws {
        let time = Time()
        let limiter = limiter(100, time)
        #expect(limiter.admit("earlier"))
        limiter.leave("earlier")
        for _ in 0..<30 {
            try #require(limiter.admit(nil))
            #expect(limiter.pass(from: nil, to: "busy"))
            let arrival = time.now
            time.pass(.milliseconds(50))
            limiter.noteWait(since: arrival)
        }
        #expect(admit(100, "busy", limiter) == 70)
    }

    @Test func `without a bound everybody is let in`() {
        let limiter = limiter(nil)
        #expect(admit(1000, "greedy", limiter) == 1000)
        #expect(!limiter.isCrowded && limiter.hasRoom(for: "greedy"))
    }
}
