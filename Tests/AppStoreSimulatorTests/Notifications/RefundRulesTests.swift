import AppStoreAPI
import Curl
import Foundation
import JSON
import Testing

@testable import AppStoreSimulator

/// How the simulated Apple decides refund requests by itself.
struct RefundRulesTests {
    private static let day: Int64 = 86_400_000

    private func purchase(_ type: ProductType = .consumable) -> TransactionPayload {
        var purchase = TransactionPayload()
        purchase.type = type
        guard type == .autoRenewableSubscription else { return purchase }
        purchase.purchaseDate = 0
        purchase.expiresDate = 30 * Self.day
        return purchase
    }

    private func request(
        _ reason: ConsumptionRequestReason = .unintendedPurchase, text: String? = nil,
        answer: ReceivedAnswer? = nil, of id: String = "2000000100000001"
    ) -> RefundRequest {
        var request = RefundRequest(
            transactionID: id, environment: .sandbox, reason: reason, text: text, requestDate: 0)
        request.answer = answer
        return request
    }

    private func decision(
        _ policy: RefundRules.Policy, on request: RefundRequest, of purchase: TransactionPayload, seed: UInt64 = 1
    ) -> RefundRequest.Decision {
        RefundRules(policy: policy).decision(on: request, of: purchase, at: 6 * Self.day, seed: seed)
    }

    @Test func `the sandbox goes by the reason and the text, and by no answer`() {
        let refusal = ReceivedAnswer(preference: .decline)
        let cases: [(RefundRequest, RefundRequest.Decision)] =
            ConsumptionRequestReason.known.map { (request($0, answer: refusal), .refund(percentage: 100_000)) } + [
                (request(.other, text: "DECLINE"), .decline),
                (request(.other, text: "decline"), .refund(percentage: 100_000)),
                (request(.unintendedPurchase, text: "DECLINE"), .refund(percentage: 100_000)),
                (request(.other, text: "GRANT_PRORATED", answer: refusal), .refund(percentage: 50_000)),
                (
                    request(.other, text: "GRANT_PRORATED", answer: ReceivedAnswer(consumed: 10_000)),
                    .refund(percentage: 50_000)
                ),
            ]
        for (request, expected) in cases {
            #expect(decision(.sandbox, on: request, of: purchase()) == expected, "\(request)")
        }
        let prorated = request(.other, text: "GRANT_PRORATED")
        #expect(
            decision(.sandbox, on: prorated, of: purchase(.autoRenewableSubscription)) == .refund(percentage: 80_000))
    }

    @Test func `a preference is followed, of either version`() throws {
        let bodies: [(JSONValue, ProductType, RefundRequest.Decision)] = [
            (["refundPreference": "DECLINE"], .consumable, .decline), (["refundPreference": 2], .consumable, .decline),
            (["refundPreference": "GRANT_FULL"], .consumable, .refund(percentage: 100_000)),
            (["refundPreference": 1], .consumable, .refund(percentage: 100_000)),
            (
                ["refundPreference": "GRANT_PRORATED", "consumptionPercentage": 30_000], .consumable,
                .refund(percentage: 70_000)
            ),
            (["refundPreference": "GRANT_PRORATED"], .consumable, .refund(percentage: 50_000)),
            (["refundPreference": "GRANT_PRORATED"], .autoRenewableSubscription, .refund(percentage: 80_000)),
            (["refundPreference": 3], .consumable, .refund(percentage: 100_000)),
            ([:], .consumable, .refund(percentage: 100_000)),
        ]
        for (body, type, expected) in bodies {
            let answer = ReceivedAnswer(try ConsumptionRequestBody(body.serialized()))
            #expect(decision(.preference, on: request(answer: answer), of: purchase(type)) == expected, "\(body)")
        }
    }

    @Test func `an answer says in either version what was used and whether it arrived`() throws {
        let bodies: [(JSONValue, Int32?, Bool)] = [
            (["deliveryStatus": "DELIVERED", "consumptionPercentage": 12_345], 12_345, true),
            (["deliveryStatus": "UNDELIVERED_OTHER"], nil, false),
            (["deliveryStatus": 0, "consumptionStatus": 0], nil, true),
            (["deliveryStatus": 0, "consumptionStatus": 1], 0, true),
            (["deliveryStatus": 0, "consumptionStatus": 2], 50_000, true),
            (["deliveryStatus": 3, "consumptionStatus": 3], 100_000, false),
        ]
        for (body, consumed, isDelivered) in bodies {
            let answer = ReceivedAnswer(try ConsumptionRequestBody(body.serialized()))
            #expect(answer.consumed == consumed && answer.isDelivered == isDelivered, "\(body)")
        }
    }

    @Test func `the same seed decides the same, whatever else is decided`() {
        let requests = (0..<200).map { request(.other, of: String(2_000_000_100_000_000 + $0)) }
        func decisions(_ requests: [RefundRequest], seed: UInt64) -> [RefundRequest.Decision] {
            requests.map { decision(.answer, on: $0, of: purchase(), seed: seed) }
        }
        let first = decisions(requests, seed: 7)
        #expect(decisions(requests, seed: 7) == first)
        #expect(decisions(requests.reversed(), seed: 7) == first.reversed())
        #expect(decisions(requests, seed: 8) != first)
        let rules = RefundRules(policy: .answer, seed: 7)
        #expect(requests.map { rules.decision(on: $0, of: purchase(), at: 0, seed: 8) } == first)
    }

    @Test func `an answer moves the chance of a refund the way that it asks`() {
        func share(_ answer: ReceivedAnswer?, _ reason: ConsumptionRequestReason = .unintendedPurchase) -> Int {
            (0..<1000).filter { number in
                decision(.answer, on: request(reason, answer: answer, of: String(number)), of: purchase()) != .decline
            }.count
        }
        let silence = share(nil)
        #expect(share(ReceivedAnswer(preference: .decline)) < silence - 200)
        #expect(share(ReceivedAnswer(preference: .grantFull)) > silence + 100)
        #expect(share(ReceivedAnswer(consumed: 100_000)) < silence - 200)
        #expect(share(ReceivedAnswer(isDelivered: false)) > silence + 150)
        #expect(share(nil, .legal) > silence + 150)
        #expect(share(nil, .other) < silence - 100)
        let used = ReceivedAnswer(preference: .grantProrated, consumed: 25_000)
        let decided = (0..<1000).map { decision(.answer, on: request(answer: used, of: String($0)), of: purchase()) }
        let prorated = decided.filter { $0 == .refund(percentage: 75_000) }.count
        let full = decided.filter { $0 == .refund(percentage: 100_000) }.count
        #expect(prorated > 3 * full && full > 50)
    }

    @Test func `each environment begins with what Apple does there`() async throws {
        try await SimulatorFixture.with { fixture in
            let rules = try await fixture.control("GET", "/refund-rules")
            let listed = try JSONValue(parsing: rules.body)["refundRules"]?.array ?? []
            #expect(
                listed.map { [$0["environment"]?.string, $0["policy"]?.string] } == [
                    ["Production", "REFUND"], ["Sandbox", "SANDBOX"],
                ])
            let body: JSONValue = ["environment": "Production", "policy": "ANSWER", "seed": 42]
            #expect(try await fixture.control("PUT", "/refund-rules", body).status == 204)
            let changed = try await fixture.control("GET", "/refund-rules")
            let production = try JSONValue(parsing: changed.body)["refundRules"]?[0]
            #expect(production?["policy"]?.string == "ANSWER" && production?["seed"]?.int64 == 42)
        }
    }

    @Test func `a tester who writes the text is refused within three minutes`() async throws {
        try await SimulatorFixture.with { fixture in
            let delay: JSONValue = ["environment": "Sandbox", "decideAfterSeconds": 180]
            #expect(try await fixture.control("PUT", "/refund-rules", delay).status == 204)
            let id = try #require(try fixture.buyOnce().transactionId)
            let wish: JSONValue = ["reason": "OTHER", "text": "DECLINE"]
            #expect(try await fixture.control("POST", "/transactions/\(id)/refund-request", wish).status == 202)
            fixture.clock.advance(by: 180)
            _ = fixture.state.takeDue(now: fixture.clock.milliseconds)
            let listed = try await fixture.control("GET", "/refund-requests")
            let request = try JSONValue(parsing: listed.body)["refundRequests"]?[0]
            #expect(request?["text"]?.string == "DECLINE")
            #expect(request?["decision"]?["outcome"]?.string == "REFUND_DECLINED")
            #expect(try fixture.state.transaction(id).revocationDate == nil)
        }
    }
}
