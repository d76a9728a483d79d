import Domain
import Foundation
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What a caller is told of an answer that is accepted: now, later, again, or not at all.
struct ConsumptionDurabilityTests {
    private let app = "/v1/apps/coins"
    private let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .via
    private let prefer = HTTPField.Name("Prefer") ?? .via
    private let applied = HTTPField.Name("Preference-Applied") ?? .via

    private func body(_ more: String = "", percentage: Int = 0) -> String {
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"#
            + #""consumptionPercentage":\#(percentage)\#(more)}"#
    }

    private func fixture() async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A"), .sample(id: "2", account: "A")]])
    }

    /// Sends without waiting for Apple, who does not answer.
    private func sendAsync(
        _ fixture: RequestHandlerFixture, _ path: String = "/transactions/1/consumption", percentage: Int = 0,
        key: String? = nil
    ) async throws -> RequestHandlerFixture.Reply {
        var headers: HTTPFields = [prefer: "respond-async"]
        headers[idempotencyKey] = key
        return try await fixture.send(.post, app + path, body: body(percentage: percentage), headers: headers)
    }

    @Test func `an answer that Apple has not taken yet is a 202 that says where to ask`() async throws {
        let fixture = try await fixture()
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        let reply = try await sendAsync(fixture)
        #expect(reply.status == 202)
        #expect(reply.headers[applied] == "respond-async")
        let id = try #require(try reply.json["id"]?.string)
        let location = try #require(reply.headers[.location])
        #expect(location == "/v1/apps/coins/deliveries/\(id)")
        #expect(["queued", "sending"].contains(try reply.json["state"]?.string))
        fixture.gateway.consumptionGate.open()
        _ = try await fixture.stack.delivery(id) { $0.state == .accepted }
        let later = try await fixture.send(.get, location)
        #expect(later.status == 200)
        #expect(try later.json["state"] == "accepted" && later.json["attemptCount"] == 1)
        #expect(try later.json["nextAttemptAt"] == .null && later.json["endedAt"]?.string != nil)
    }

    @Test func `both preferences together wait so long and then go on`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(
            .post, "\(app)/transactions/1/consumption", body: body(), headers: [prefer: "respond-async, wait=600"])
        #expect(reply.status == 200, "Apple is quicker than the wait")
        #expect(reply.headers[applied] == "respond-async, wait=600")
    }

    @Test func `without a preference the answer waits as long as it is configured`() async throws {
        let fixture = try await RequestHandlerFixture(
            accounts: [[.sample(id: "1", account: "A")]], consumptionWait: .zero)
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        let reply = try await fixture.send(.post, "\(app)/transactions/1/consumption", body: body())
        #expect(reply.status == 202 && reply.headers[.location] != nil)
        #expect(reply.headers[applied] == nil)
    }

    @Test func `a wait bounds the answer, not the delivery`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(
            .post, "\(app)/transactions/1/consumption", body: body(), headers: [prefer: "wait=0"])
        #expect([200, 202].contains(reply.status))
        #expect(reply.headers[applied] == "wait=0")
        let id = try #require(try reply.json["id"]?.string)
        #expect(try await fixture.stack.delivery(id) { $0.state.isFinal }.state == .accepted)
    }

    @Test func `a repeated request gets the same delivery, another one under its key is refused`() async throws {
        let fixture = try await fixture()
        let headers: HTTPFields = [idempotencyKey: "k-1"]
        let target = "\(app)/transactions/1/consumption"
        let first = try await fixture.send(.post, target, body: body(), headers: headers)
        let second = try await fixture.send(.post, target, body: body(), headers: headers)
        #expect(first.status == 200 && second.status == 200)
        #expect(try first.json["id"] == second.json["id"])
        let reused = try await fixture.send(.post, target, body: body(percentage: 5), headers: headers)
        #expect(reused.status == 422)
        #expect(try reused.json["reason"] == "IDEMPOTENCY_KEY_REUSED")
        #expect(try reused.json["delivery"]?["id"] == first.json["id"])
        let elsewhere = try await fixture.send(
            .post, "\(app)/transactions/2/consumption", body: body(percentage: 5), headers: headers)
        #expect(elsewhere.status == 200, "a key counts for its path")
        let environment = try await fixture.send(
            .post, "\(target)?environment=Production", body: body(), headers: headers)
        #expect(environment.status == 422, "the environment belongs to the request")
    }

    @Test(arguments: ["", " ", "a b", "ä", String(repeating: "k", count: 256)])
    func `a key that is no key is refused`(key: String) async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(
            .post, "\(app)/transactions/1/consumption", body: body(), headers: [idempotencyKey: key])
        #expect(reply.status == 400)
        #expect(try reply.json["violations"]?.array?.first?["field"] == "Idempotency-Key")
        #expect(fixture.gateway.questions.isEmpty)
    }

    @Test func `two keys are none`() async throws {
        var headers: HTTPFields = [:]
        headers.append(HTTPField(name: idempotencyKey, value: "a"))
        headers.append(HTTPField(name: idempotencyKey, value: "b"))
        let reply = try await fixture().send(
            .post, "\(app)/transactions/1/consumption", body: body(), headers: headers)
        #expect(reply.status == 400)
    }

    @Test func `without a transaction the user's one open case is meant`() async throws {
        let fixture = try await fixture()
        let target = "\(app)/users/alice/consumption"
        let none = try await fixture.send(.post, target, body: body())
        #expect(none.status == 409)
        #expect(try none.json["reason"] == "NO_OPEN_CASE" && none.json["cases"] == nil)
        for id in ["1", "2"] {
            let link = try await fixture.send(.put, "\(app)/users/alice/links/transactionId/\(id)")
            #expect(link.status == 201)
        }
        try await fixture.stack.receive(
            .sample("n1", reason: "UNINTENDED_PURCHASE", transaction: .sample(id: "1", account: "A")))
        let one = try await fixture.send(.post, target, body: body())
        #expect(one.status == 200)
        #expect(try one.json["transactionId"] == "1" && one.json["caseId"]?.string != nil)
        // The first is answered now, so that again one is open.
        try await fixture.stack.receive(.sample("n2", transaction: .sample(id: "2", account: "A")))
        #expect(try await fixture.send(.post, target, body: body(percentage: 7)).json["transactionId"] == "2")
    }

    @Test func `without an open case the user's latest cases and answers are listed`() async throws {
        let fixture = try await fixture()
        _ = try await fixture.send(.put, "\(app)/users/alice/links/transactionId/1")
        try await fixture.stack.receive(
            .sample("n1", reason: "OTHER", transaction: .sample(id: "1", account: "A")))
        let target = "\(app)/users/alice/consumption"
        let sent = try await fixture.send(.post, target, body: body()).json
        let refused = try await fixture.send(.post, target, body: body(percentage: 7))
        #expect(refused.status == 409)
        let problem = try refused.json
        #expect(problem["reason"] == "NO_OPEN_CASE")
        let listed = try #require(problem["deliveries"]?.array?.first)
        #expect(listed["id"] == sent["id"] && listed["state"] == "accepted" && listed["transactionId"] == "1")
        #expect(listed["createdAt"] == sent["createdAt"] && listed["endedAt"] == sent["endedAt"])
        #expect(listed["report"] == nil, "a list tells what there is, not what was said")
        let refundCase = try #require(problem["cases"]?.array?.first)
        #expect(refundCase["id"] == sent["caseId"] && refundCase["state"] == "answered")
    }

    @Test func `several open cases are listed, and one is answered by its id`() async throws {
        let fixture = try await fixture()
        for id in ["1", "2"] {
            _ = try await fixture.send(.put, "\(app)/users/alice/links/transactionId/\(id)")
            try await fixture.stack.receive(
                .sample("n\(id)", reason: "OTHER", transaction: .sample(id: id, account: "A")))
        }
        let several = try await fixture.send(.post, "\(app)/users/alice/consumption", body: body())
        #expect(several.status == 409)
        #expect(try several.json["reason"] == "SEVERAL_OPEN_CASES")
        let cases = try #require(try several.json["cases"]?.array)
        #expect(Set(cases.compactMap { $0["transactionId"]?.string }) == ["1", "2"])
        #expect(cases[0]["deadline"] == "2023-11-15T10:13:20.000Z" && cases[0]["reason"] == "OTHER")
        #expect(cases[0]["environment"] == "Production" && cases[0]["state"] == "open")
        let id = try #require(cases[0]["id"]?.string)
        let refused = try await fixture.send(
            .post, "\(app)/cases/\(id)/consumption?environment=Sandbox",
            body: body(#","transactionId":"1","environment":"Sandbox""#))
        #expect(
            try refused.json["violations"]?.array?.map { $0["field"] } == [
                "environment", "transactionId", "environment",
            ])
        let answered = try await fixture.send(.post, "\(app)/cases/\(id)/consumption", body: body())
        #expect(answered.status == 200)
        #expect(try answered.json["caseId"]?.string == id && answered.json["user"] == "alice")
    }

    @Test func `another answer to a case waits until the first has ended`() async throws {
        let fixture = try await fixture()
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        let first = try await sendAsync(fixture)
        let same = try await sendAsync(fixture)
        #expect(try first.json["id"] == same.json["id"])
        let other = try await sendAsync(fixture, percentage: 3)
        #expect(other.status == 409)
        #expect(try other.json["reason"] == "DELIVERY_UNDER_WAY")
        #expect(try other.json["delivery"]?["id"] == first.json["id"])
    }

    @Test func `a case that takes no answers is named`() async throws {
        let fixture = try await fixture()
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        try await fixture.stack.receive(
            .sample("n2", type: "REFUND", at: 1, transaction: .sample(id: "1", account: "A")))
        let reply = try await fixture.send(.post, "\(app)/transactions/1/consumption", body: body())
        #expect(reply.status == 409)
        #expect(try reply.json["reason"] == "CASE_CLOSED")
        #expect(try reply.json["cases"]?.array?.first?["state"] == "decided")
    }

    @Test func `whoever has withdrawn is not told of`() async throws {
        let fixture = try await fixture()
        _ = try await fixture.send(.put, "\(app)/users/alice/links/transactionId/1")
        let withdrawal = #"{"consented":false,"source":"settings"}"#
        #expect(try await fixture.send(.put, "\(app)/users/alice/consent", body: withdrawal).status == 200)
        for path in ["/users/alice/consumption", "/transactions/1/consumption"] {
            let reply = try await fixture.send(.post, app + path, body: body(#","transactionId":"1""#))
            #expect(reply.status == 409)
            #expect(try reply.json["reason"] == "CONSENT_WITHDRAWN")
        }
        #expect(!fixture.gateway.questions.contains(.consumption("1")))
    }

    @Test func `storage that fails is a 503 with nothing half accepted`() async throws {
        let fixture = try await fixture()
        await fixture.stack.store.close()
        let reply = try await fixture.send(.post, "\(app)/transactions/1/consumption", body: body())
        #expect(reply.status == 503)
        #expect(try reply.json["reason"] == "STORE_UNAVAILABLE" && reply.json["delivery"] == nil)
        #expect(!fixture.gateway.questions.contains(.consumption("1")))
    }
}
