import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Deliveries as callers see them.
struct DeliveryRoutesTests {
    private let deliveries = "/v1/apps/coins/deliveries"
    private let body =
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#

    private func fixture(_ count: Int = 3) async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [(1...count).map { .sample(id: "\($0)", account: "A") }])
    }

    /// Sends an answer about each of these transactions, for these users in turn, and waits until Apple has them.
    private func send(_ count: Int, _ fixture: RequestHandlerFixture, users: [String] = ["alice"]) async throws
        -> [String]
    {
        var ids: [String] = []
        for number in 1...count {
            let user = users[(number - 1) % users.count]
            let reply = try await fixture.send(
                .post, "/v1/apps/coins/users/\(user)/consumption",
                body: #"{"transactionId":"\#(number)","# + body.dropFirst())
            #expect(reply.status == 200)
            ids.append(try #require(try reply.json["id"]?.string))
        }
        return ids
    }

    private func ids(_ reply: RequestHandlerFixture.Reply) throws -> [String] {
        try reply.json["deliveries"]?.array?.compactMap { $0["id"]?.string } ?? []
    }

    @Test func `the list is newest first, a page at a time, and new ones do not disturb it`() async throws {
        let fixture = try await fixture(5)
        let sent = try await send(4, fixture)
        let first = try await fixture.send(.get, "\(deliveries)?pageSize=2")
        #expect(try ids(first) == [sent[3], sent[2]])
        let token = try #require(try first.json["nextPageToken"]?.string)
        _ = try await fixture.send(.post, "/v1/apps/coins/transactions/5/consumption", body: body)
        let second = try await fixture.send(.get, "\(deliveries)?pageSize=2&pageToken=\(token)")
        #expect(try ids(second) == [sent[1], sent[0]])
        #expect(try second.json["nextPageToken"] == nil)
        let all = try await fixture.send(.get, deliveries)
        #expect(try ids(all).count == 5)
        #expect(try all.json["nextPageToken"] == nil)
    }

    @Test func `filters go together, and states are one or the other`() async throws {
        let fixture = try await fixture()
        let sent = try await send(3, fixture, users: ["alice", "bob"])
        func found(_ query: String) async throws -> [String] {
            let reply = try await fixture.send(.get, "\(deliveries)?\(query)")
            #expect(reply.status == 200)
            return try ids(reply)
        }
        #expect(try await found("user=alice") == [sent[2], sent[0]])
        #expect(try await found("user=bob&state=accepted&state=queued") == [sent[1]])
        #expect(try await found("state=queued") == [])
        #expect(try await found("transactionId=3") == [sent[2]])
        #expect(try await found("environment=Production&since=2023-11-14T22:13:20Z").count == 3)
        #expect(try await found("environment=Sandbox") == [])
        #expect(try await found("since=2023-11-14T22:13:21Z") == [])
        #expect(try await found("caseId=018c") == [])
    }

    @Test func `every broken filter is told at once`() async throws {
        let query = "state=lost&user=&transactionId=a%20b&environment=Moon&since=soon&pageSize=201&colour=red"
        let reply = try await fixture().send(.get, "\(deliveries)?\(query)")
        #expect(reply.status == 400)
        let fields = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string } ?? []
        #expect(
            Set(fields) == ["state", "user", "transactionId", "environment", "since", "pageSize", "colour"])
    }

    @Test func `a page token is good for its own list alone`() async throws {
        let fixture = try await fixture()
        _ = try await send(2, fixture)
        let page = try await fixture.send(.get, "\(deliveries)?pageSize=1&user=alice")
        let token = try #require(try page.json["nextPageToken"]?.string)
        func status(_ query: String) async throws -> Int {
            let reply = try await fixture.send(.get, "\(deliveries)?\(query)")
            if reply.status != 200 { #expect(try reply.json["reason"] == "PAGE_TOKEN_INVALID") }
            return reply.status
        }
        #expect(try await status("user=alice&pageToken=\(token)") == 200, "the size may change")
        #expect(try await status("user=bob&pageToken=\(token)") == 400)
        #expect(try await status("pageToken=\(token)") == 400)
        #expect(try await status("user=alice&pageToken=A\(token)") == 400)
        #expect(try await status("user=alice&pageToken=\(token.dropLast(4))") == 400)
        #expect(try await status("user=alice&pageToken=") == 400)
        let cases = try await fixture.send(.get, "/v1/apps/coins/cases?user=alice&pageToken=\(token)")
        #expect(cases.status == 400)
    }

    @Test func `one that is not there is a 404, for reading and for cancelling`() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.send(.get, "\(deliveries)/nobody").status == 404)
        let cancel = try await fixture.send(.post, "\(deliveries)/nobody:cancel")
        #expect(cancel.status == 404)
        #expect(try cancel.json["reason"] == "DELIVERY_NOT_FOUND")
    }

    @Test func `what is being sent can be cancelled, once`() async throws {
        let fixture = try await fixture()
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        let prefer = HTTPField.Name("Prefer") ?? .via
        let sent = try await fixture.send(
            .post, "/v1/apps/coins/transactions/1/consumption", body: body, headers: [prefer: "respond-async"])
        let id = try #require(try sent.json["id"]?.string)
        let cancelled = try await fixture.send(.post, "\(deliveries)/\(id):cancel")
        #expect(cancelled.status == 200)
        #expect(try cancelled.json["state"] == "cancelled")
        #expect(try cancelled.json["failure"]?["reason"] == "DELIVERY_ENDED")
        #expect(try cancelled.json["failure"]?["detail"]?.string?.contains("billing") == true)
        let again = try await fixture.send(.post, "\(deliveries)/\(id):cancel")
        #expect(again.status == 409)
        #expect(try again.json["reason"] == "DELIVERY_ENDED" && again.json["delivery"]?["id"]?.string == id)
    }

    @Test func `a delivery that Apple refused shows why`() async throws {
        let fixture = try await fixture()
        fixture.gateway.failConsumption(.rejected)
        let refused = try await fixture.send(.post, "/v1/apps/coins/transactions/1/consumption", body: body)
        #expect(refused.status == 400)
        let id = try #require(try refused.json["delivery"]?["id"]?.string)
        let delivery = try await fixture.send(.get, "\(deliveries)/\(id)").json
        #expect(delivery["state"] == "refused" && delivery["failure"]?["reason"] == "APPLE_REJECTED")
        #expect(delivery["failure"]?["apple"]?["errorCode"] == 4_000_047)
        #expect(delivery["attempts"]?.array?.first?["httpStatus"] == 400)
    }
}
