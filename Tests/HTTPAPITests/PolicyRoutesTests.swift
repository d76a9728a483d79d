import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// How apps answer by themselves, and what a policy would have said.
struct PolicyRoutesTests {
    private static let policies = "/v1/apps/coins/policies"

    private func fixture(scopes: Set<Scope> = Set(Scope.allCases)) async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(scopes: scopes)
    }

    /// Rules of an answer about what is unused, and of one about the rest.
    private static let rules = """
        {"rules":[{"rule":"unused","match":{"consumptionPercentage":{"below":1},"purchaseAge":{"below":"30d"}},
                   "atOnce":true,"answer":{"refundPreference":"GRANT_FULL"}},
                  {"rule":"known","answer":{"refundPreference":"DECLINE"}}]}
        """

    @Test func `an app without a policy has no rules, and needs some to try`() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.send(.get, Self.policies).json["rules"]?.array?.isEmpty == true)
        let missing = try await fixture.send(.post, "\(Self.policies):try", body: "{}")
        #expect(missing.status == 400)
        #expect(try missing.json["violations"]?.array?.map { $0["field"]?.string } == ["rules"])
    }

    @Test func `a trial tells what each case would get, and why the rules before were passed over`() async throws {
        let fixture = try await fixture()
        let day = DeliveryTime.day
        for (id, percentage) in [("1", 0), ("2", 40_000), ("3", nil)] as [(String, Int?)] {
            try await fixture.stack.receive(.sample("n\(id)", transaction: .sample(id: id, purchased: day)))
            guard let percentage else { continue }
            let usage = """
                {"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":\(percentage)}
                """
            #expect(try await fixture.send(.put, "/v1/apps/coins/transactions/\(id)/usage", body: usage).status == 201)
        }
        let reply = try await fixture.send(.post, "\(Self.policies):try", body: Self.rules)
        #expect(reply.status == 200, "\(String(decoding: reply.body, as: UTF8.self))")
        let json = try reply.json
        let results = try #require(json["results"]?.array)
        let byID = Dictionary(uniqueKeysWithValues: results.map { ($0["transactionId"]?.string ?? "", $0) })
        #expect(byID["1"]?["rule"] == "unused" && byID["1"]?["decision"] == "answer")
        #expect(byID["1"]?["report"]?["answer"]?.string?.contains("grantFull") == true)
        #expect(byID["1"]?["consentRecorded"] == false)
        #expect(byID["2"]?["rule"] == "known")
        #expect(byID["2"]?["report"]?["answer"]?.string?.contains("40000") == true)
        #expect(byID["2"]?["passedRules"]?.array?.first?["why"] == "`consumptionPercentage` is another one")
        #expect(byID["3"]?["decision"] == "undecided" && byID["3"]?["report"] == .null)
        #expect(byID["3"]?["passedRules"]?.array?.count == 2)
        #expect(json["counts"]?.array?.map { $0["cases"] } == [1, 1, 1])
        let one = try await fixture.send(
            .post, "\(Self.policies):try",
            body: Self.rules.replacingOccurrences(
                of: "{\"rules\"", with: "{\"transactionId\":\"2\",\"limit\":5,\"rules\""))
        #expect(try one.json["results"]?.array?.count == 1)
        #expect(fixture.gateway.calls.isEmpty, "nothing of this is Apple's")
    }

    @Test func `broken rules are named where they stand`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(
            .post, "\(Self.policies):try",
            body: #"{"limit":0,"rules":[{"rule":"a","silence":true},{"rule":"b","match":{"price":1},"answer":{}}]}"#)
        #expect(reply.status == 400)
        #expect(
            try reply.json["violations"]?.array?.map { $0["field"]?.string }
                == ["rules[1].match.price", "limit"])
    }

    @Test func `who may not read policies is told which scope is missing`() async throws {
        let fixture = try await fixture(scopes: [.usageRead])
        for reply in [
            try await fixture.send(.get, Self.policies),
            try await fixture.send(.post, "\(Self.policies):try", body: Self.rules),
        ] {
            #expect(reply.status == 403)
            #expect(String(decoding: reply.body, as: UTF8.self).contains("policies:read"))
        }
    }
}

private enum DeliveryTime {
    /// The day before the requests of `StoredNotification.sample`, in seconds since 1970.
    static let day: TimeInterval = CaseModel.time(-24).timeIntervalSince1970
}
