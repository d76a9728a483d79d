import Domain
import HTTPTypes
import JSON
import TestSupport
import Testing

/// `Prefer: wait` on any route (RFC 7240).
struct PreferenceTests {
    private let prefer = HTTPField.Name("Prefer") ?? .via
    private let applied = HTTPField.Name("Preference-Applied") ?? .via

    /// What the answer says was applied.
    private func applied(_ values: String...) async throws -> String? {
        var headers: HTTPFields = [:]
        for value in values { headers.append(HTTPField(name: prefer, value: value)) }
        return try await RequestHandlerFixture().send(.get, "/v1/apps", headers: headers).headers[applied]
    }

    @Test func `a wait in seconds is applied wherever it stands`() async throws {
        #expect(try await applied("wait=7") == "wait=7")
        #expect(try await applied(#"respond-async, WAIT = "7""#) == "wait=7")
        #expect(try await applied(#"foo="a,wait=3"; bar, wait=8; x=1"#) == "wait=8")
        #expect(try await applied("handling=lenient", "wait=9") == "wait=9")
    }

    @Test func `of several the first counts`() async throws {
        #expect(try await applied("wait=7, wait=8", "wait=9") == "wait=7")
        #expect(try await applied("wait=soon, wait=8") == nil)
    }

    @Test func `anything else is ignored`() async throws {
        for value in [
            "", "wait", "wait=", "wait=-1", "wait=1.5", "wait=1s", "waits=1", ";,=", "wait=99999999999999999999",
        ] {
            #expect(try await applied(value) == nil, "\(value)")
        }
    }

    @Test func `respond-async is honoured where a request can go on, and nowhere else`() async throws {
        #expect(try await applied("respond-async") == nil)
        for path in ["users/alice", "transactions/1", "cases/1"] {
            let reply = try await RequestHandlerFixture().send(
                .post, "/v1/apps/coins/\(path)/consumption", body: "{}", headers: [prefer: "Respond-Async; x=1"])
            #expect(reply.status == 400 && reply.headers[self.applied] == "respond-async", "\(path)")
        }
    }

    @Test func `a wait shortens the deadline and never lengthens it`() async throws {
        for (wait, applied) in [(Wait.seconds / 2, Wait.limit / 2), (Wait.seconds * 2, Wait.limit)] {
            let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1")]])
            let before = ContinuousClock.now
            _ = try await fixture.send(.get, "/v1/apps/coins/transactions/1", headers: [prefer: "wait=\(wait)"])
            let after = ContinuousClock.now
            let deadline = try #require(fixture.gateway.calls.first?.deadline)
            #expect((before + applied...after + applied).contains(deadline))
        }
    }

    @Test func `no time at all is honoured where a request can go on, and nowhere else`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
        let read = try await fixture.send(.get, "/v1/apps/coins/transactions/1", headers: [prefer: "wait=0"])
        #expect(read.status == 200 && read.headers[applied] == nil)
        let deadline = try #require(fixture.gateway.calls.first?.deadline)
        #expect(deadline > .now + Wait.limit / 2)
        let body = #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
        let sent = try await fixture.send(
            .post, "/v1/apps/coins/transactions/1/consumption", body: body, headers: [prefer: "wait=0"])
        #expect(sent.status == 202 && sent.headers[applied] == "wait=0")
    }

    @Test func `a problem answer tells it too`() async throws {
        let reply = try await RequestHandlerFixture().send(.get, "/v1/nothing", headers: [prefer: "wait=2"])
        #expect(reply.status == 404 && reply.headers[applied] == "wait=2")
    }

    @Test func `consumption is urgent and everything else is not, each for its caller`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
        let body =
            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
        #expect(try await fixture.send(.post, "/v1/apps/coins/transactions/1/consumption", body: body).status == 200)
        #expect(fixture.gateway.calls.map(\.priority) == [.deadlineBound, .deadlineBound])
        for path in ["transactions/1", "transactions/1/history", "transactions/1/refunds"] {
            #expect(try await fixture.send(.get, "/v1/apps/coins/\(path)").status == 200)
        }
        #expect(fixture.gateway.calls.dropFirst(2).allSatisfy { $0.priority == .interactive })
        #expect(fixture.gateway.calls.allSatisfy { $0.caller == "billing" })
    }
}
