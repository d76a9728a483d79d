import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// What is kept, for callers that ask for it while Apple cannot be asked.
struct StoredStateRoutesTests {
    private let user = "/v1/apps/coins/users/alice"

    private func fixture() async throws -> RequestHandlerFixture {
        let fixture = try await RequestHandlerFixture()
        _ = try await fixture.send(.put, "\(user)/links/originalTransactionId/1")
        return fixture
    }

    @Test func `subscriptions say that they are stored, and as of when`() async throws {
        let fixture = try await fixture()
        try await fixture.stack.receive(.subscription("n1", "SUBSCRIBED", period: "1", at: -2))
        try await fixture.stack.receive(.subscription("n2", "EXPIRED", period: "1", status: 2, at: -1))
        let reply = try await fixture.send(.get, "\(user)/subscriptions?source=stored&include=signed")
        #expect(reply.status == 200)
        let list = try reply.json
        #expect(list["source"] == "stored" && list["complete"] == true && list["othersOmitted"] == 0)
        let found = list["subscriptions"]?[0]
        #expect(found?["status"] == 2 && found?["asOf"] == "2023-11-14T21:13:20.000Z")
        #expect(found?["subscriptionGroupIdentifier"] == "group" && found?["verified"] == true)
        #expect(found?["transaction"]?["transactionId"] == "1" && found?["renewalInfo"]?["of"] == "n2")
        #expect(found?["signedTransactionInfo"] == "t" && found?["signedRenewalInfo"] == "r")
        for (query, count) in [("status=2", 1), ("status=1", 0), ("environment=Production", 1)] {
            let filtered = try await fixture.send(.get, "\(user)/subscriptions?source=stored&\(query)").json
            #expect(filtered["subscriptions"]?.array?.count == count, "\(query)")
        }
        let elsewhere = try await fixture.send(.get, "\(user)/subscriptions?source=stored&environment=Sandbox")
        #expect(try elsewhere.status == 404 && elsewhere.json["reason"] == "NOTHING_STORED")
        #expect(fixture.gateway.calls.isEmpty, "Apple is not asked")
    }

    @Test func `a transaction says that it is stored, and as of when`() async throws {
        let fixture = try await fixture()
        let path = "/v1/apps/coins/transactions/1?source=stored"
        let none = try await fixture.send(.get, path)
        #expect(try none.status == 404 && none.json["reason"] == "NOTHING_STORED")
        try await fixture.stack.receive(.subscription("n1", "SUBSCRIBED", period: "1", at: -2))
        let found = try await fixture.send(.get, path).json
        #expect(found["transaction"]?["transactionId"] == "1" && found["source"] == "stored")
        #expect(found["asOf"] == "2023-11-14T20:13:20.000Z" && found["signed"] == nil)
        #expect(try await fixture.send(.get, path + "&include=signed").json["signed"] == "t")
        #expect(try await fixture.send(.delete, user).status == 200)
        let erased = try await fixture.send(.get, path + "&include=signed").json
        #expect(erased["transaction"]?["transactionId"] == "1" && erased["signed"] == nil)
        #expect(fixture.gateway.calls.isEmpty, "Apple is not asked")
    }

    @Test func `without the parameter Apple is asked, and what is stored stays out of it`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1", account: "A")]])
        try await fixture.stack.receive(.subscription("n1", "SUBSCRIBED", period: "1", at: -2))
        for source in ["", "?source=live"] {
            let found = try await fixture.send(.get, "/v1/apps/coins/transactions/1\(source)").json
            #expect(found["transaction"]?["subscriptionGroupIdentifier"] == nil && found["source"] == nil)
        }
        let unknown = try await fixture.send(.get, "/v1/apps/coins/transactions/1?source=cache")
        #expect(try unknown.status == 400 && unknown.json["violations"]?[0]?["field"] == "source")
        let list = try await fixture.send(.get, "\(user)/subscriptions?source=cache")
        #expect(try list.status == 400 && list.json["violations"]?[0]?["rule"] == "enum")
    }
}
