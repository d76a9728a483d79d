import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Apple's version 1 of a consumption answer, in both of its shapes and on all routes.
struct ConsumptionVersion1Tests {
    private static let members = [
        #""accountTenure":4"#, #""appAccountToken":"""#, #""consumptionStatus":3"#, #""customerConsented":true"#,
        #""deliveryStatus":0"#, #""lifetimeDollarsPurchased":2"#, #""lifetimeDollarsRefunded":1"#, #""platform":1"#,
        #""playTime":7"#, #""refundPreference":2"#, #""sampleContentProvided":true"#, #""userStatus":1"#,
    ]
    /// The members that version 2 does not know.
    private static let ownFields = [
        "accountTenure", "appAccountToken", "consumptionStatus", "lifetimeDollarsPurchased", "lifetimeDollarsRefunded",
        "platform", "playTime", "userStatus",
    ]
    private static let all = members.joined(separator: ",")
    private static let transaction = "/v1/apps/coins/transactions/1/consumption"
    private static let user = "/v1/apps/coins/users/alice/consumption"

    private func fixture(_ transaction: Transaction) async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [[transaction]])
    }

    private func violations(
        _ body: String, to target: String = transaction, of purchase: Transaction = .sample(id: "1", account: "A")
    ) async throws -> [JSONValue] {
        let fixture = try await fixture(purchase)
        let reply = try await fixture.send(.post, target, body: body)
        #expect(reply.status == 400)
        #expect(fixture.gateway.handOvers.isEmpty)
        return try #require(try reply.json["violations"]?.array)
    }

    private func fields(_ violations: [JSONValue]) -> [String] { violations.compactMap { $0["field"]?.string } }

    @Test(arguments: [ProductType.consumable, .autoRenewableSubscription, .nonConsumable, .nonRenewingSubscription])
    func `version 1 is taken for every type of product, in both shapes, on every route`(type: ProductType) async throws
    {
        let purchase = Transaction.sample(id: "1", account: "A", type: type)
        for consumption in [Self.all, #""appleV1":{\#(Self.all)}"#] {
            for (target, others) in [
                (Self.transaction, #""deadline":"2023-11-15T08:00:00Z","environment":"Production","#),
                (Self.user, #""transactionId":"1","#), (Self.user, ""), ("case", ""),
            ] {
                let fixture = try await fixture(purchase)
                _ = try await fixture.send(.put, "/v1/apps/coins/users/alice/links/transactionId/1")
                try await fixture.stack.receive(.sample("n1", transaction: purchase))
                let cases = try await fixture.send(.get, "/v1/apps/coins/cases").json["cases"]?.array
                let id = try #require(cases?.first?["id"]?.string)
                let reply = try await fixture.send(
                    .post, target == "case" ? "/v1/apps/coins/cases/\(id)/consumption" : target,
                    body: "{\(others)\(consumption)}")
                #expect(reply.status == 200, "\(target) \(consumption)")
                let delivery = try reply.json
                #expect(delivery["version"] == "V1" && delivery["state"] == "accepted")
                #expect(delivery["caseId"]?.string == id)
                let warnings = delivery["warnings"]?.array?.compactMap(\.string) ?? []
                #expect(warnings.count == 1 && warnings[0].contains("version 2"))
                #expect(fixture.gateway.handOvers.map(\.message.version) == [.v1])
            }
        }
    }

    @Test func `both shapes are the same bytes for Apple`() async throws {
        var bodies: Set<[UInt8]> = []
        for body in ["{\(Self.all)}", #"{"appleV1":{\#(Self.all)}}"#] {
            let fixture = try await fixture(.sample(id: "1", account: "A"))
            #expect(try await fixture.send(.post, Self.transaction, body: body).status == 200)
            bodies.formUnion(fixture.gateway.handOvers.map(\.message.body))
        }
        #expect(bodies.count == 1)
    }

    @Test func `for a purchase of Advanced Commerce it is the only one, and nothing is warned of`() async throws {
        let fixture = try await fixture(.sample(id: "1", account: "A", isAdvancedCommerce: true))
        let reply = try await fixture.send(.post, Self.transaction, body: "{\(Self.all)}")
        #expect(reply.status == 200)
        #expect(try reply.json["warnings"]?.array?.isEmpty == true)
    }

    @Test func `of a purchase that is not known it is warned all the same`() async throws {
        let fixture = try await fixture(.sample(id: "1", account: "A"))
        let prefer = HTTPField.Name("Prefer") ?? .via
        // Who does not wait lets nobody ask Apple beforehand.
        let reply = try await fixture.send(
            .post, Self.transaction, body: "{\(Self.all)}", headers: [prefer: "respond-async"])
        #expect(reply.status == 202)
        #expect(try reply.json["warnings"]?.array?.count == 1)
    }

    @Test(arguments: [#""customerConsented":false"#, #""customerConsented":1"#, ""])
    func `without consent nothing is sent`(consent: String) async throws {
        let others = Self.members.filter { !$0.contains("customerConsented") }
        let consumption = (others + [consent]).filter { !$0.isEmpty }.joined(separator: ",")
        for body in ["{\(consumption)}", #"{"appleV1":{\#(consumption)}}"#] {
            let found = try await violations(body)
            #expect(found.count == 1 && found[0]["appleErrorCode"] == 4_000_035)
        }
    }

    @Test func `what came through Family Sharing is refused`() async throws {
        let purchase = Transaction.sample(id: "1", account: "A", isFamilyShared: true)
        for body in ["{\(Self.all)}", #"{"appleV1":{\#(Self.all)}}"#] {
            let found = try await violations(body, of: purchase)
            #expect(found.count == 1 && found[0]["appleErrorCode"] == 4_000_185)
        }
    }

    @Test(arguments: ownFields)
    func `one field of version 1 makes a flat body version 1, whose other fields are then missing`(
        field: String
    ) async throws {
        let member = try #require(Self.members.first { $0.contains(field) })
        let found = try await violations(#"{\#(member),"customerConsented":true,"sampleContentProvided":true}"#)
        #expect(Set(fields(found)) == Set(Self.ownFields + ["deliveryStatus"]).subtracting([field]))
        for violation in found {
            #expect(violation["rule"] == "required" && violation["appleErrorCode"]?.int64 != nil)
            #expect(violation["message"]?.string?.contains("version 1") == true)
        }
    }

    @Test(arguments: [#""deliveryStatus":0"#, #""refundPreference":1"#, #""deliveryStatus":0.5"#])
    func `so does a number where version 2 has a word`(member: String) async throws {
        let found = try await violations(#"{\#(member),"customerConsented":true,"sampleContentProvided":true}"#)
        #expect(Set(fields(found)).isSuperset(of: Self.ownFields))
        #expect(fields(found).contains("consumptionPercentage") == false)
    }

    @Test(arguments: [
        #""playTime":1,"consumptionPercentage":5"#, #""playTime":1,"deliveryStatus":"DELIVERED""#,
        #""deliveryStatus":0,"refundPreference":"DECLINE""#, #""refundPreference":1,"consumptionPercentage":5"#,
        #""deliveryStatus":"DELIVERED","refundPreference":1"#, #""userStatus":9,"futureField":1"#,
        #""accountTenure":null,"appAccountToken":"x","deliveryStatus":"LOST","refundPreference":4"#,
    ])
    func `both versions in one body are one violation, which names appleV1`(members: String) async throws {
        let shared = #""customerConsented":true,"sampleContentProvided":true"#
        let found = try await violations("{\(members),\(shared)}")
        #expect(fields(found) == ["appleV1"])
        let message = try #require(found.first?["message"]?.string)
        for member in members.split(separator: ",") {
            let name = try #require(member.split(separator: "\"").first)
            #expect(message.contains("`\(name)`"), "\(name)")
        }
        // Consent and what the request does not know at all are told along.
        let more = try await violations(#"{\#(members),"sampleContentProvided":true,"colour":1}"#)
        #expect(fields(more) == ["appleV1", "customerConsented", "colour"])
    }

    @Test func `beside appleV1 stands no other field of an answer`() async throws {
        for member in [#""deliveryStatus":"DELIVERED""#, #""playTime":1"#, #""customerConsented":true"#] {
            let found = try await violations(#"{"appleV1":{\#(Self.all)},\#(member)}"#)
            #expect(found.count == 1)
            #expect(found.first?["message"]?.string?.contains("`appleV1`") == true)
        }
    }

    @Test func `a wrong flat body names the fields as they stand, all at once`() async throws {
        let body =
            #"{"accountTenure":8,"appAccountToken":"x","consumptionStatus":4,"customerConsented":"yes","deliveryStatus":6,"lifetimeDollarsPurchased":8,"lifetimeDollarsRefunded":-1,"platform":3,"playTime":8,"refundPreference":4,"sampleContentProvided":1,"userStatus":5,"deadline":"soon","colour":1}"#
        let found = try await violations(body)
        #expect(
            Set(fields(found))
                == Set(Self.ownFields).union([
                    "customerConsented", "deliveryStatus", "refundPreference", "sampleContentProvided", "deadline",
                    "colour",
                ]))
        let nested = try await violations(#"{"appleV1":{"playTime":99999999999999999999999}}"#)
        #expect(nested.count == 11)
        let playTime = nested.first { $0["field"] == "appleV1.playTime" }
        #expect(playTime?["rule"] == "range" && playTime?["appleErrorCode"] == 4_000_040)
    }
}
