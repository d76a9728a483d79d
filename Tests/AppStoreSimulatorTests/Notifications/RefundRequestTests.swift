import AppStoreAPI
import Curl
import Foundation
import JSON
import Testing

@testable import AppStoreSimulator

/// Customers who want their money back.
struct RefundRequestTests {
    private static let consumption: JSONValue = [
        "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
        "consumptionPercentage": 25_000, "refundPreference": "GRANT_PRORATED",
    ]

    /// Asks for the refund of a new purchase, whose notifications go to a receiver from then on.
    private func ask(
        _ fixture: SimulatorFixture, _ body: JSONValue = ["reason": "FULFILLMENT_ISSUE"],
        notifying receiver: NotificationReceiver? = nil
    ) async throws -> String {
        let id = try #require(try fixture.buyOnce().transactionId)
        if let receiver { try fixture.notify(receiver) }
        let answer = try await fixture.control("POST", "/transactions/\(id)/refund-request", body)
        try #require(answer.status == 202)
        return id
    }

    private func decide(_ fixture: SimulatorFixture, _ id: String, _ body: JSONValue) async throws -> Int {
        try await fixture.control("POST", "/transactions/\(id)/refund-decision", body).status
    }

    private func types(_ fixture: SimulatorFixture) -> [NotificationTypeV2] {
        fixture.state.notifications.map(\.draft.type)
    }

    @Test func `Apple asks again with new identifiers until it is decided`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                let rules = try await fixture.control(
                    "PUT", "/refund-rules", ["environment": "Sandbox", "repeatAfterSeconds": 3600])
                #expect(rules.status == 204)
                let id = try await ask(fixture, notifying: receiver)
                try await fixture.waitForAttempts(1)
                for count in 2...3 {
                    fixture.clock.advance(by: 3600)
                    fixture.state.agendaChanged()
                    try await fixture.waitForAttempts(count)
                }
                #expect(try await decide(fixture, id, ["outcome": "REFUND_DECLINED"]) == 204)
                try await fixture.waitForAttempts(4)
                fixture.clock.advance(by: 36_000)
                #expect(fixture.state.takeDue(now: fixture.clock.milliseconds).deliveries.isEmpty)
                let payloads = try fixture.received(receiver)
                #expect(
                    payloads.map(\.notificationType) == [
                        .consumptionRequest, .consumptionRequest, .consumptionRequest, .refundDeclined,
                    ])
                #expect(Set(payloads.map(\.notificationUUID)).count == 4)
                #expect(payloads[2].data?.consumptionRequestReason == .fulfillmentIssue)
                let transaction = try fixture.verified(payloads[3].data?.signedTransactionInfo)
                #expect(transaction.transactionId == id && transaction.revocationDate == nil)
            }
        }
    }

    @Test func `a refund shows in the purchase and in its notification`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                let id = try await ask(fixture, notifying: receiver)
                try await fixture.waitForAttempts(1)
                #expect(try await decide(fixture, id, ["outcome": "REFUND", "percentage": 40_000]) == 204)
                try await fixture.waitForAttempts(2)
                let payload = try #require(try fixture.received(receiver).last)
                #expect(payload.notificationType == .refund)
                let transaction = try fixture.verified(payload.data?.signedTransactionInfo)
                #expect(transaction.revocationPercentage == 40_000 && transaction.revocationReason == .issue)
                #expect(types(fixture).filter { $0 == .refund }.count == 1)
                #expect(try await decide(fixture, id, ["outcome": "REFUND"]) == 404)
            }
        }
    }

    @Test func `Apple decides by itself when told to`() async throws {
        try await SimulatorFixture.with { fixture in
            let policies: [(RefundRules.Policy, String?, Int32?)] = [
                (.refund, nil, 100_000), (.decline, nil, nil), (.preference, nil, 100_000),
                (.preference, "report", 75_000),
            ]
            for (policy, report, percentage) in policies {
                fixture.state.setRefundRules(RefundRules(decisionDelay: 180_000, policy: policy), in: .sandbox)
                let id = try await ask(fixture)
                if report != nil {
                    let answer = try await fixture.call(
                        .sendConsumptionInformation(transactionId: id), body: Self.consumption.serialized())
                    #expect(answer.status == 202)
                }
                fixture.clock.advance(by: 179)
                _ = fixture.state.takeDue(now: fixture.clock.milliseconds)
                #expect(fixture.state.refundRequests.last?.decision == nil)
                fixture.clock.advance(by: 1)
                _ = fixture.state.takeDue(now: fixture.clock.milliseconds)
                #expect(fixture.state.refundRequests.last?.decision != nil)
                #expect(try fixture.state.transaction(id).revocationPercentage == percentage)
            }
        }
    }

    @Test func `what makes no sense is refused`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try await ask(fixture, [:])
            let again = try await fixture.control("POST", "/transactions/\(id)/refund-request")
            #expect(again.status == 409)
            #expect(try await decide(fixture, id, ["outcome": "PERHAPS"]) == 400)
            #expect(try await decide(fixture, id, ["outcome": "REFUND", "percentage": 0]) == 400)
            #expect(try await decide(fixture, "1", ["outcome": "REFUND"]) == 404)
            let wordy: JSONValue = ["text": .string(String(repeating: "a", count: 1025))]
            let refused = try await fixture.control("POST", "/transactions/\(id)/refund-request", wordy)
            #expect(refused.status == 400)
            let unknown = try await fixture.control("POST", "/transactions/1/refund-request")
            #expect(unknown.status == 404)
            _ = try fixture.state.refund(id)
            let refunded = try await fixture.control(
                "POST", "/transactions/\(id)/refund-decision", ["outcome": "REFUND"])
            #expect(refunded.status == 409)
            for body in [
                ["environment": "Sandbox", "policy": "MAYBE"], ["policy": "REFUND"],
                ["environment": "Sandbox", "repeatAfterSeconds": 0], ["environment": "Sandbox", "seed": -1],
            ] as [JSONValue] {
                let answer = try await fixture.control("PUT", "/refund-rules", body)
                #expect(answer.status == 400)
            }
            let listed = try await fixture.control("GET", "/refund-requests")
            let request = try JSONValue(parsing: listed.body)["refundRequests"]?[0]
            #expect(request?["transactionId"]?.string == id && request?["consumptionRequests"]?.int64 == 1)
        }
    }

    @Test func `a purchase that was refunded otherwise is not asked about again`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.setRefundRules(RefundRules(repeatInterval: 1000, decisionDelay: 5000), in: .sandbox)
            let id = try await ask(fixture)
            _ = try fixture.state.refund(id)
            fixture.clock.advance(by: 60)
            _ = fixture.state.takeDue(now: fixture.clock.milliseconds)
            let request = try #require(fixture.state.refundRequests.last)
            #expect(request.nextRepeatDate == nil && request.decisionDate == nil)
        }
    }
}
