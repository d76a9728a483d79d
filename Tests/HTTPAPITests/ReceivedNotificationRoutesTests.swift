import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// What Apple has sent, as callers see it, and what they forward.
struct ReceivedNotificationRoutesTests {
    private let notifications = "/v1/apps/coins/notifications"

    private func uuids(_ fixture: RequestHandlerFixture, _ query: String) async throws -> [String] {
        let reply = try await fixture.send(.get, "\(notifications)?\(query)")
        #expect(reply.status == 200)
        return try reply.json["notifications"]?.array?.compactMap { $0["notificationUUID"]?.string } ?? []
    }

    @Test func `a notification shows its decoded parts, whatever its type`() async throws {
        let fixture = try await RequestHandlerFixture()
        _ = try await fixture.send(.put, "/v1/apps/coins/users/alice/links/transactionId/7")
        try await fixture.stack.receive(
            .sample("n1", type: "BRAND_NEW", subtype: "TOO", transaction: .sample(id: "7")))
        let plain = try await fixture.send(.get, "\(notifications)/n1")
        #expect(plain.status == 200)
        let found = try plain.json
        #expect(found["notificationType"] == "BRAND_NEW" && found["subtype"] == "TOO" && found["source"] == "webhook")
        #expect(found["receivedAt"] == "2023-11-14T22:13:20.000Z" && found["processedAt"]?.string != nil)
        #expect(found["user"] == "alice" && found["environment"] == "Production" && found["verified"] == true)
        #expect(found["notification"]?["notificationUUID"] == "n1" && found["transaction"]?["transactionId"] == "7")
        #expect(found["signedPayload"] == nil)
        let signed = try await fixture.send(.get, "\(notifications)/n1?include=signed").json
        #expect(signed["signedPayload"] == "n.n1.n")
        #expect(try await fixture.send(.get, "\(notifications)/n1?include=all").status == 400)
        let missing = try await fixture.send(.get, "\(notifications)/n2")
        #expect(missing.status == 404)
        #expect(try missing.json["reason"] == "NOTIFICATION_NOT_FOUND")
    }

    @Test func `the list is latest first, filtered and a page at a time`() async throws {
        let fixture = try await RequestHandlerFixture()
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1")))
        try await fixture.stack.receive(.sample("n2", type: "TEST", transaction: nil, environment: .sandbox))
        try await fixture.stack.receive(
            .sample("n3", type: "DID_RENEW", subtype: "BILLING_RECOVERY", transaction: .sample(id: "2", original: "1")))
        #expect(try await uuids(fixture, "") == ["n3", "n2", "n1"])
        #expect(try await uuids(fixture, "type=TEST") == ["n2"])
        #expect(try await uuids(fixture, "subtype=BILLING_RECOVERY") == ["n3"])
        #expect(try await uuids(fixture, "transactionId=1") == ["n3", "n1"])
        #expect(try await uuids(fixture, "environment=Sandbox") == ["n2"])
        #expect(try await uuids(fixture, "user=alice") == [])
        #expect(try await uuids(fixture, "since=2023-11-14T22:13:20Z").count == 3)
        #expect(try await uuids(fixture, "since=2023-11-14T22:13:20.001Z") == [])
        let page = try await fixture.send(.get, "\(notifications)?pageSize=2").json
        let token = try #require(page["nextPageToken"]?.string)
        #expect(try await uuids(fixture, "pageSize=2&pageToken=\(token)") == ["n1"])
        let broken = try await fixture.send(.get, "\(notifications)?since=1&include=signed")
        #expect(try broken.json["violations"]?.array?.compactMap { $0["field"]?.string } == ["include", "since"])
    }

    @Test func `what a caller forwards is kept once`() async throws {
        let fixture = try await RequestHandlerFixture()
        fixture.stack.verifier.know(StoredNotification.sample("n1").notification)
        let body = #"{"signedPayload":"n.n1.n"}"#
        let new = try await fixture.send(.post, notifications, body: body)
        #expect(new.status == 201)
        #expect(try new.json["notificationUUID"] == "n1")
        let known = try await fixture.send(.post, notifications, body: body)
        #expect(known.status == 200)
        #expect(try known.json["notificationUUID"] == "n1")
        #expect(try await fixture.send(.get, "\(notifications)/n1").json["source"] == "forwarded")
    }

    @Test func `what Apple did not sign is refused, not as a credential of the caller's`() async throws {
        let reply = try await RequestHandlerFixture().send(.post, notifications, body: #"{"signedPayload":"a.b.c"}"#)
        #expect(reply.status == 422)
        #expect(try reply.json["reason"] == "NOTIFICATION_NOT_SIGNED")
        #expect(try reply.json["code"] == "INVALID_ARGUMENT")
        #expect(reply.headers[.wwwAuthenticate] == nil)
    }

    @Test(arguments: [
        ("{}", ["signedPayload"]), (#"{"signedPayload":""}"#, ["signedPayload"]),
        (#"{"signedPayload":{},"more":1}"#, ["signedPayload", "more"]),
        (#"{"signedPayload":"a.b.c","more":1}"#, ["more"]),
    ])
    func `a body that is not right is refused`(body: String, fields: [String]) async throws {
        let reply = try await RequestHandlerFixture().send(.post, notifications, body: body)
        #expect(reply.status == 400)
        #expect(try reply.json["violations"]?.array?.compactMap { $0["field"]?.string } == fields)
    }
}
