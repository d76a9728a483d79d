import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Refund requests as callers see them.
struct CaseRoutesTests {
    private let cases = "/v1/apps/coins/cases"

    private func fixture() async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [(1...3).map { .sample(id: "\($0)", account: "A") }])
    }

    private func list(_ fixture: RequestHandlerFixture, _ query: String = "") async throws -> [JSONValue] {
        let reply = try await fixture.send(.get, "\(cases)?\(query)")
        #expect(reply.status == 200)
        return try #require(try reply.json["cases"]?.array)
    }

    @Test func `a case tells what Apple asks, until when, and about whom`() async throws {
        let fixture = try await fixture()
        _ = try await fixture.send(.put, "/v1/apps/coins/users/alice/links/transactionId/1")
        let transaction = Transaction.sample(id: "1", account: "A")
        try await fixture.stack.receive(
            .sample("n1", reason: "UNINTENDED_PURCHASE", at: -1, received: 0, transaction: transaction))
        try await fixture.stack.receive(.sample("n2", reason: "OTHER", at: 0, transaction: transaction))
        let listed = try #require(try await list(fixture).first)
        let id = try #require(listed["id"]?.string)
        let reply = try await fixture.send(.get, "\(cases)/\(id)")
        #expect(reply.status == 200)
        let found = try reply.json
        #expect(found["state"] == "open" && found["owner"] == "alice" && found["transactionId"] == "1")
        #expect(found["reason"] == "UNINTENDED_PURCHASE" && found["environment"] == "Production")
        #expect(found["deadline"] == "2023-11-15T09:13:20.000Z" && found["secondsLeft"] == 39_600)
        #expect(found["requestedAt"] == "2023-11-14T21:13:20.000Z")
        #expect(found["purchase"]?["type"] == "Consumable" && found["purchase"]?["appTransactionId"] == "A")
        let reminders = try #require(found["reminders"]?.array)
        #expect(reminders.count == 1 && reminders[0]["notificationUUID"] == "n2" && reminders[0]["reason"] == "OTHER")
        #expect(found["decline"] == .null && found["outcome"] == .null && found["decidedAt"] == .null)
        #expect(found["deliveries"]?.array?.isEmpty == true && listed["deliveries"] == nil)
    }

    @Test func `the list is by deadline, soonest first, filtered and a page at a time`() async throws {
        let fixture = try await fixture()
        for (id, hour) in [("1", -1.0), ("2", -3), ("3", -2)] {
            try await fixture.stack.receive(
                .sample("n\(id)", at: hour, received: 0, transaction: .sample(id: id, account: "A")))
        }
        _ = try await fixture.send(.put, "/v1/apps/coins/users/bob/links/transactionId/3")
        func transactions(_ query: String) async throws -> [String] {
            try await list(fixture, query).compactMap { $0["transactionId"]?.string }
        }
        #expect(try await transactions("") == ["2", "3", "1"])
        #expect(try await transactions("user=bob") == ["3"])
        #expect(try await transactions("transactionId=1&state=open&state=declined") == ["1"])
        #expect(try await transactions("state=answered") == [])
        #expect(try await transactions("environment=Sandbox") == [])
        let page = try await fixture.send(.get, "\(cases)?pageSize=2").json
        #expect(page["cases"]?.array?.count == 2)
        let token = try #require(page["nextPageToken"]?.string)
        #expect(try await transactions("pageSize=2&pageToken=\(token)") == ["1"])
        let broken = try await fixture.send(.get, "\(cases)?state=lost&pageSize=0&since=x")
        #expect(try broken.json["violations"]?.array?.count == 3)
    }

    @Test func `a decline ends what is under way, stays, and takes no answer`() async throws {
        let fixture = try await fixture()
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        let id = try #require(try await list(fixture).first?["id"]?.string)
        let body = #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
        let prefer = HTTPField.Name("Prefer") ?? .via
        let sent = try await fixture.send(
            .post, "\(cases)/\(id)/consumption", body: body, headers: [prefer: "respond-async"])
        #expect(sent.status == 202)
        let declined = try await fixture.send(.post, "\(cases)/\(id):decline", body: #"{"note":"no consent"}"#)
        #expect(declined.status == 200)
        let found = try declined.json
        #expect(found["state"] == "declined" && found["decline"]?["note"] == "no consent")
        #expect(found["secondsLeft"] == .null, "the time ends with the case")
        #expect(found["decline"]?["caller"] == "billing")
        #expect(found["deliveries"]?.array?.first?["state"] == "cancelled")
        let again = try await fixture.send(.post, "\(cases)/\(id):decline")
        #expect(again.status == 200, "without a body, and once more")
        let empty = try await fixture.send(.post, "\(cases)/\(id):decline", body: "")
        #expect(empty.status == 200, "declared, but empty")
        #expect(try again.json["decline"]?["note"] == "no consent")
        let answer = try await fixture.send(.post, "\(cases)/\(id)/consumption", body: body)
        #expect(answer.status == 409)
        #expect(try answer.json["reason"] == "CASE_CLOSED")
    }

    @Test func `a decision of Apple's cannot be declined`() async throws {
        let fixture = try await fixture()
        let transaction = Transaction.sample(id: "1", account: "A")
        try await fixture.stack.receive(.sample("n1", transaction: transaction))
        try await fixture.stack.receive(.sample("n2", type: "REFUND_DECLINED", at: 1, transaction: transaction))
        let decided = try #require(try await list(fixture, "state=decided").first)
        #expect(decided["outcome"] == "refundDeclined" && decided["decidedAt"] == "2023-11-14T23:13:20.000Z")
        #expect(decided["secondsLeft"] == .null)
        let id = try #require(decided["id"]?.string)
        let reply = try await fixture.send(.post, "\(cases)/\(id):decline")
        #expect(reply.status == 409)
        #expect(try reply.json["cases"]?.array?.first?["id"]?.string == id)
    }

    @Test(arguments: [
        #"{"note":""}"#, #"{"note":1}"#, #"{"reason":"x"}"#, #"{"note":"\#(String(repeating: "é", count: 251))"}"#,
    ])
    func `a note is text of up to 500 bytes`(body: String) async throws {
        let fixture = try await fixture()
        #expect(try await fixture.send(.post, "\(cases)/1:decline", body: body).status == 400)
    }

    @Test func `a body that is not declared as JSON is refused also where none is needed`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(
            .post, "\(cases)/1:decline", body: "note=x", headers: [.contentType: "text/plain"])
        #expect(reply.status == 415)
    }

    @Test func `a case that is not there is a 404`() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.send(.get, "\(cases)/1").status == 404)
        let declined = try await fixture.send(.post, "\(cases)/1:decline")
        #expect(declined.status == 404)
        #expect(try declined.json["reason"] == "CASE_NOT_FOUND")
    }

    @Test func `the overview shows open cases and consent`() async throws {
        let fixture = try await fixture()
        _ = try await fixture.send(.put, "/v1/apps/coins/users/alice/links/transactionId/1")
        let consent = #"{"consented":true,"source":"sign-up"}"#
        _ = try await fixture.send(.put, "/v1/apps/coins/users/alice/consent", body: consent)
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        let overview = try await fixture.send(.get, "/v1/apps/coins/users/alice").json
        #expect(overview["consent"]?["consented"] == true && overview["consent"]?["source"] == "sign-up")
        #expect(overview["openCases"]?.array?.map { $0["transactionId"] } == ["1"])
        let stranger = try await fixture.send(.get, "/v1/apps/coins/users/stranger").json
        #expect(stranger["consent"] == .null && stranger["openCases"]?.array?.isEmpty == true)
    }
}
