import Domain
import HTTPTypes
import JSON
import TestSupport
import Testing

struct ExtensionRoutesTests {
    private let app = "/v1/apps/coins"
    private let uuid = "018c0000-0000-7000-8000-00000000000a"

    private func violations(_ reply: RequestHandlerFixture.Reply) throws -> [String] {
        try reply.json["violations"]?.array?.map {
            "\($0["field"]?.string ?? "") \($0["appleErrorCode"]?.int64 ?? 0)"
        } ?? []
    }

    @Test func `one subscription is extended`() async throws {
        let fixture = try await RequestHandlerFixture(accounts: [[.sample(id: "1", environment: .sandbox)]])
        let reply = try await fixture.send(
            .put, "\(app)/transactions/1/renewalExtension",
            body: #"{"extendByDays":30,"extendReasonCode":1,"requestIdentifier":"mine"}"#)
        #expect(reply.status == 200)
        let outcome = try reply.json
        #expect(outcome["originalTransactionId"] == "1" && outcome["webOrderLineItemId"] == "w")
        #expect(outcome["success"] == true && outcome["effectiveDate"] == 1_700_000_000_000)
        #expect(outcome["environment"] == "Sandbox")
        let wanted = RenewalExtension(days: 30, reasonCode: 1, requestIdentifier: "mine")
        #expect(fixture.gateway.questions == [.extend("1", wanted)])
    }

    @Test func `an extension that breaks rules is told all of them`() async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await fixture.send(
            .put, "\(app)/transactions/a%20b/renewalExtension?include=signed",
            body: #"{"extendByDays":91,"extendReasonCode":"1","requestIdentifier":"","productId":"x"}"#)
        #expect(reply.status == 400)
        #expect(
            try violations(reply) == [
                "transactionId 4000008", "include 0", "extendByDays 4000009", "extendReasonCode 4000010",
                "requestIdentifier 4000011", "productId 0",
            ])
        #expect(fixture.gateway.questions.isEmpty)
    }

    @Test func `all subscribers of a product are extended, and the answer says where to look`() async throws {
        let fixture = try await RequestHandlerFixture()
        let body =
            #"{"extendByDays":3,"extendReasonCode":3,"requestIdentifier":"\#(uuid)","productId":"com.example.gems","storefrontCountryCodes":["USA","DEU"]}"#
        let reply = try await fixture.send(.post, "\(app)/renewalExtensions?environment=Sandbox", body: body)
        #expect(reply.status == 202)
        #expect(try reply.json["requestIdentifier"]?.string == uuid && reply.json["productId"] == "com.example.gems")
        #expect(fixture.gateway.calls.map(\.environment) == [.sandbox])
        let location = try #require(reply.headers[.location])
        #expect(location == "\(app)/renewalExtensions/com.example.gems/\(uuid)?environment=Sandbox")
        let status = try await fixture.send(.get, location)
        #expect(status.status == 200)
        #expect(try status.json["complete"] == true && status.json["environment"] == "Sandbox")
        #expect(try status.json["succeededCount"] == 3 && status.json["failedCount"] == 1)
    }

    @Test func `a mass extension needs an environment and names every violation`() async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await fixture.send(
            .post, "\(app)/renewalExtensions",
            body: #"{"extendByDays":0,"extendReasonCode":9,"requestIdentifier":"mine","storefrontCountryCodes":[]}"#)
        #expect(
            try violations(reply) == [
                "environment 0", "extendByDays 4000009", "extendReasonCode 4000010", "requestIdentifier 4000011",
                "productId 4000023", "storefrontCountryCodes 4000027",
            ])
        let status = try await fixture.send(.get, "\(app)/renewalExtensions/%2E%2E/mine?colour=red")
        #expect(
            try violations(status) == ["productId 4000023", "requestIdentifier 4000011", "colour 0", "environment 0"])
        #expect(fixture.gateway.questions.isEmpty)
    }
}
