import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Consent and erasure as callers see them.
struct ConsentRoutesTests {
    private let user = "/v1/apps/coins/users/alice"
    private let answer =
        #"{"transactionId":"1","customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#

    private func fixture() async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
    }

    @Test func `what was recorded last decides, and everything is kept`() async throws {
        let fixture = try await fixture()
        let none = try await fixture.send(.get, "\(user)/consent").json
        #expect(none["consent"] == .null && none["history"]?.array?.isEmpty == true && none["user"] == "alice")
        let agreed = try await fixture.send(
            .put, "\(user)/consent", body: #"{"consented":true,"source":"settings-v3","at":"2023-11-14T20:00:00Z"}"#)
        #expect(agreed.status == 200)
        let record = try agreed.json
        #expect(record["consented"] == true && record["source"] == "settings-v3" && record["recordedBy"] == "billing")
        #expect(record["at"] == "2023-11-14T20:00:00.000Z" && record["recordedAt"] == "2023-11-14T22:13:20.000Z")
        #expect(record["cancelled"]?.array?.isEmpty == true && record["mayHaveBeenSent"]?.array?.isEmpty == true)
        // Said before, but received later.
        let withdrawn = try await fixture.send(
            .put, "\(user)/consent", body: #"{"consented":false,"source":"mail","at":"2023-11-14T19:00:00Z"}"#)
        #expect(withdrawn.status == 200)
        let history = try await fixture.send(.get, "\(user)/consent").json
        #expect(history["consent"]?["consented"] == false && history["consent"]?["source"] == "mail")
        #expect(history["history"]?.array?.map { $0["consented"] } == [true, false])
    }

    @Test func `a withdrawal tells what it ended and what it came too late for`() async throws {
        let fixture = try await fixture()
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        let prefer = HTTPField.Name("Prefer") ?? .via
        let sent = try await fixture.send(
            .post, "\(user)/consumption", body: answer, headers: [prefer: "respond-async"])
        let id = try #require(try sent.json["id"]?.string)
        let reply = try await fixture.send(.put, "\(user)/consent", body: #"{"consented":false,"source":"app"}"#)
        #expect(reply.status == 200)
        let ended = try [reply.json["cancelled"]?.array, reply.json["mayHaveBeenSent"]?.array]
        #expect(ended.compactMap(\.self).flatMap(\.self) == [.string(id)])
        #expect(try await fixture.send(.get, "/v1/apps/coins/deliveries/\(id)").json["state"] == "cancelled")
    }

    @Test(arguments: [
        ("{}", ["consented", "source"]), (#"{"consented":"yes","source":1}"#, ["consented", "source"]),
        (#"{"consented":true,"source":"","at":"today","by":"me"}"#, ["source", "at", "by"]),
        (#"{"consented":true,"source":"\#(String(repeating: "s", count: 129))","at":5}"#, ["source", "at"]),
        (#"{"consented":true,"source":"app","wordingVersion":"","locale":"de_CH"}"#, ["wordingVersion", "locale"]),
    ])
    func `every broken rule is told at once`(body: String, fields: [String]) async throws {
        let reply = try await fixture().send(.put, "\(user)/consent", body: body)
        #expect(reply.status == 400)
        #expect(try reply.json["violations"]?.array?.compactMap { $0["field"]?.string } == fields)
    }

    @Test func `the evidence of a consent is kept with it: wording, language, place and guardian`() async throws {
        let fixture = try await fixture()
        let body =
            #"{"consented":true,"source":"ios-app 5.2","wordingVersion":"3.1","locale":"de-CH","guardian":true}"#
        #expect(try await fixture.send(.put, "\(user)/consent", body: body).status == 200)
        _ = try await fixture.send(.put, "\(user)/consent", body: #"{"consented":true,"source":"web"}"#)
        let history = try await fixture.send(.get, "\(user)/consent").json["history"]
        #expect(history?[0]?["source"] == "ios-app 5.2" && history?[0]?["locale"] == "de-CH")
        #expect(history?[0]?["wordingVersion"] == "3.1" && history?[0]?["guardian"] == true)
        #expect(history?[1]?["locale"] == .null && history?[1]?["guardian"] == false)
    }

    @Test func `rules of path, query and body are told together`() async throws {
        let long = String(repeating: "u", count: 129)
        let reply = try await fixture().send(
            .put, "/v1/apps/coins/users/\(long)/consent?at=now", body: #"{"consented":1,"by":"me"}"#)
        #expect(reply.status == 400)
        let fields = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string }
        #expect(fields == ["at", "user", "consented", "source", "by"])
    }

    @Test func `an erasure tells what is gone, what stays and why`() async throws {
        let fixture = try await fixture()
        _ = try await fixture.send(.put, "\(user)/links/transactionId/1")
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        #expect(try await fixture.send(.post, "\(user)/consumption", body: answer).status == 200)
        _ = try await fixture.send(.put, "\(user)/consent", body: #"{"consented":false,"source":"app"}"#)
        let reply = try await fixture.send(.delete, user)
        #expect(reply.status == 200)
        let report = try reply.json
        #expect(report["user"] == "alice" && report["erased"]?["links"] == 1)
        #expect(report["erased"]?["consentRecords"] == 1 && report["erased"]?["deliveries"] == 1)
        #expect(report["erased"]?["cases"] == 1 && report["erased"]?["notifications"] == 1)
        let kept = try #require(report["kept"]?.array)
        #expect(
            kept.compactMap { $0["what"]?.string } == [
                "deliveries", "cases", "notifications", "withdrawal", "backups",
            ])
        #expect(kept.allSatisfy { $0["why"]?.string?.isEmpty == false })
        #expect(try await fixture.send(.get, "\(user)/consent").json["history"]?.array?.isEmpty == true)
        let delivery = try await fixture.send(.get, "/v1/apps/coins/deliveries").json["deliveries"]?.array?.first
        #expect(delivery?["user"] == .null && delivery?["state"] == "accepted")
        let again = try await fixture.send(.post, "\(user)/consumption", body: answer)
        #expect(try again.json["reason"] == "CONSENT_WITHDRAWN", "an erasure does not revive consent")
    }

    @Test func `of a user of whom nothing is known, nothing is erased`() async throws {
        let report = try await fixture().send(.delete, "/v1/apps/coins/users/stranger").json
        #expect(report["erased"]?.object?.members.allSatisfy { $0.value == 0 } == true)
        #expect(report["kept"]?.array?.compactMap { $0["what"]?.string } == ["backups"])
    }
}
