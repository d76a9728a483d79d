import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

/// Extend a Subscription Renewal Date.
struct RenewalExtensionTests {
    private static let day = SimulatorFixture.day

    private func body(
        _ days: JSONValue = 10, reason: JSONValue = 1, _ identifier: JSONValue = "outage-1"
    ) -> JSONValue {
        ["extendByDays": days, "extendReasonCode": reason, "requestIdentifier": identifier]
    }

    private func extend(
        _ fixture: SimulatorFixture, _ id: String, _ body: JSONValue
    ) async throws -> ExtendRenewalDateResponse {
        try await fixture.answer(
            ExtendRenewalDateResponse.self, .extendSubscriptionRenewalDate(originalTransactionId: id), body: body)
    }

    private func expect(
        _ error: APIErrorCode, _ fixture: SimulatorFixture, _ id: String, _ body: JSONValue,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await fixture.expect(
            error, from: .extendSubscriptionRenewalDate(originalTransactionId: id), body: body.serialized(),
            sourceLocation: sourceLocation)
    }

    @Test func `the present period ends later, and the next one is as long as ever`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.subscribe()
            let id = try #require(bought.transactionId)
            let renewed = try fixture.state.renew(id, purchaseDate: fixture.clock.milliseconds)
            let end = try #require(renewed.expiresDate) + 90 * Self.day
            let answer = try await extend(fixture, id, body(90, reason: 3))
            #expect(answer.success == true && answer.effectiveDate == end && answer.originalTransactionId == id)
            #expect(answer.webOrderLineItemId == renewed.webOrderLineItemId)
            let (_, transaction, renewalInfo) = try await fixture.subscription(id)
            #expect(transaction.expiresDate == end && renewalInfo.renewalDate == end)
            #expect(try fixture.state.transaction(id).expiresDate == bought.expiresDate)
            let next = try fixture.state.renew(id)
            #expect(next.purchaseDate == end && next.expiresDate == end + 30 * Self.day)
        }
    }

    @Test func `the same identifier again changes nothing`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            let first = try await extend(fixture, id, body())
            #expect(try await extend(fixture, id, body(20, reason: 0)) == first)
            #expect(try fixture.state.transaction(id).expiresDate == first.effectiveDate)
            let longest = JSONValue.string(String(repeating: "é", count: 128))
            #expect(try await extend(fixture, id, body(1, longest)) != first)
        }
    }

    @Test func `twice in 365 days is the limit`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(
                try fixture.subscribe {
                    $0.expiresDate = fixture.clock.milliseconds + 800 * Self.day
                }.transactionId)
            _ = try await extend(fixture, id, body(1, "a"))
            try fixture.state.clock.advance(by: 86_400)
            _ = try await extend(fixture, id, body(1, "b"))
            try await expect(.subscriptionMaxExtension, fixture, id, body(1, "c"))
            try fixture.state.clock.advance(by: 364 * 86_400)
            _ = try await extend(fixture, id, body(1, "c"))
            try await expect(.subscriptionMaxExtension, fixture, id, body(1, "d"))
        }
    }

    @Test func `family members are extended with the purchaser, not by themselves`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe(family: "f").transactionId)
            let shared = try #require(try fixture.share(id, family: "f").transactionId)
            try await expect(.familySharedSubscriptionExtensionIneligible, fixture, shared, body())
            let answer = try await extend(fixture, id, body())
            #expect(try fixture.state.transaction(shared).expiresDate == answer.effectiveDate)
        }
    }

    @Test func `only an active subscription that was paid for is extended`() async throws {
        try await SimulatorFixture.with { fixture in
            let state = fixture.state
            func subscribe(_ change: (inout TransactionPayload) -> Void = { _ in }) throws -> String {
                try #require(try fixture.subscribe(change).transactionId)
            }
            let free = try subscribe { $0.offerDiscountType = .freeTrial }
            let unpaid = try subscribe { $0.price = 0 }
            let expired = try subscribe()
            try state.expire(expired)
            let retried = try subscribe()
            try state.failBilling(retried)
            let graced = try subscribe()
            try state.failBilling(graced, gracePeriod: Self.day)
            let refunded = try subscribe()
            try state.refund(refunded)
            let coins = try #require(try fixture.buyOnce().transactionId)
            for id in [free, unpaid, expired, retried, graced, refunded, coins] {
                try await expect(.subscriptionExtensionIneligible, fixture, id, body())
            }
            try state.renew(free)
            _ = try await extend(fixture, free, body())
        }
    }

    @Test func `a body with a mistake gets the error of its field`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            for days: JSONValue in [0, 91, -1, 1.5, "10", nil] {
                try await expect(.invalidExtendByDays, fixture, id, body(days))
            }
            for reason: JSONValue in [-1, 4, 1.5, "1", nil] {
                try await expect(.invalidExtendReasonCode, fixture, id, body(reason: reason))
            }
            for identifier: JSONValue in ["", 1, nil, .string(String(repeating: "a", count: 129))] {
                try await expect(.invalidRequestIdentifier, fixture, id, body(1, identifier))
            }
            try await expect(.invalidExtendByDays, fixture, id, [:])
            #expect(try fixture.state.subscriptionStatus(of: id) == .active)
            let endpoint = Endpoint.extendSubscriptionRenewalDate(originalTransactionId: id)
            for (bytes, type, status) in [
                (Array("[]".utf8), "application/json", 400), (Array("{}".utf8), "text/plain", 415),
                (Array("{".utf8), "application/json", 400),
                ([UInt8](repeating: 32, count: 65_537), "application/json", 413),
            ] {
                let response = try await fixture.call(endpoint, body: bytes, contentType: type)
                #expect(response.status == status && response.body.isEmpty)
            }
        }
    }

    @Test func `the identifier must be an original one of the app and environment`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe().transactionId)
            let renewed = try #require(try fixture.state.renew(id).transactionId)
            let far = try #require(try fixture.subscribe(in: .production).transactionId)
            let download = try #require(try fixture.state.transaction(id).appTransactionId)
            for other in [renewed, far, download, "1"] {
                try await expect(.originalTransactionIdNotFound, fixture, other, body())
            }
            for malformed in ["x", "123456789012345678901"] {
                try await expect(.invalidOriginalTransactionId, fixture, malformed, body())
            }
        }
    }
}
