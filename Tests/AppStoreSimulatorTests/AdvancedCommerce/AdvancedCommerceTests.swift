import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import Testing

/// The server calls of the Advanced Commerce API.
struct AdvancedCommerceTests {
    private static let reference = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"
    private static let price: Int64 = 4990

    // MARK: Purchases and bodies

    private static func item(_ sku: String) -> AdvancedCommerceTransactionItem {
        AdvancedCommerceTransactionItem {
            $0.sku = sku
            $0.displayName = "Name of \(sku)"
            $0.description = "What \(sku) is"
            $0.price = price
        }
    }

    /// Buys through Advanced Commerce, unless the items are nil.
    private func buy(
        _ fixture: SimulatorFixture, _ type: ProductType = .autoRenewableSubscription,
        skus: [String]? = ["gold", "extra"]
    ) throws -> String {
        let account = try fixture.state.createAccount(in: .sandbox)
        let purchase = try fixture.buy(by: account.id) { purchase in
            purchase.type = type
            purchase.productId = "generic"
            purchase.advancedCommerceInfo = skus.map { skus in
                AdvancedCommerceTransactionInfo {
                    $0.descriptors = AdvancedCommerceDescriptors { $0.displayName = "Bundle" }
                    $0.items = skus.map(Self.item)
                }
            }
        }
        return try #require(purchase.transactionId)
    }

    private func body(_ more: (String, JSONValue)..., reference: String = reference) -> JSONValue {
        .object(JSONObject([("requestInfo", ["requestReferenceId": .string(reference)])] + more))
    }

    private func refundItem(_ sku: String, _ reason: String = "LEGAL", _ type: String = "FULL") -> JSONValue {
        ["SKU": .string(sku), "refundReason": .string(reason), "refundType": .string(type), "revoke": true]
    }

    private func refundBody(_ items: JSONValue..., reference: String = reference) -> JSONValue {
        body(("items", .array(items)), ("refundRiskingPreference", false), reference: reference)
    }

    private func send(
        _ fixture: SimulatorFixture, _ operation: Endpoint.Operation, _ id: String, _ body: JSONValue
    ) async throws -> CurlResponse {
        try await fixture.call(Endpoint(operation, [id]), body: body.serialized())
    }

    /// Sends a request that must succeed; gives transaction and renewal.
    private func change(
        _ fixture: SimulatorFixture, _ operation: Endpoint.Operation, _ id: String, _ body: JSONValue
    ) async throws -> (TransactionPayload, RenewalInfoPayload?) {
        let answer = try await fixture.answer(
            AdvancedCommerceRequestRefundResponse.self, Endpoint(operation, [id]), body: body)
        let renewal = try answer.signedRenewalInfo.map { try RenewalInfoPayload(parsing: fixture.verifiedPayload($0)) }
        return (try fixture.verified(answer.signedTransactionInfo), renewal)
    }

    // MARK: What the calls do

    @Test func `a refund of all items refunds the transaction, once`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture)
            let request = refundBody(refundItem("gold"), refundItem("extra"))
            let (first, renewal) = try await change(fixture, .requestRefund, id, request)
            #expect(first.revocationType == .refundFull && first.revocationPercentage == 100_000)
            #expect(
                first.advancedCommerceInfo?.items?.map(\.revocationDate) == [
                    first.revocationDate, first.revocationDate,
                ])
            #expect(first.advancedCommerceInfo?.items?[0].refunds?.map(\.refundAmount) == [Self.price])
            #expect(renewal?.originalTransactionId == id)
            fixture.clock.advance(by: 60)
            let (second, _) = try await change(fixture, .requestRefund, id, request)
            #expect(second.revocationDate == first.revocationDate)
            #expect(second.advancedCommerceInfo?.items?[0].refunds?.count == 1)
            let again = refundBody(refundItem("gold"), reference: SimulatorFixture.message)
            try fixture.expect(.generalBadRequest, await send(fixture, .requestRefund, id, again))
        }
    }

    @Test func `a refund of one item leaves the rest`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture, .nonConsumable)
            let (payload, renewal) = try await change(fixture, .requestRefund, id, refundBody(refundItem("extra")))
            #expect(payload.revocationDate == nil && renewal == nil)
            #expect(payload.advancedCommerceInfo?.items?[0].refunds == nil)
            #expect(payload.advancedCommerceInfo?.items?[1].refunds?.first?.refundReason == .legal)
        }
    }

    @Test func `a refund can be declined on purpose`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                try fixture.notify(receiver)
                let id = try buy(fixture, .nonConsumable)
                let before = fixture.state.notifications.count
                let request = refundBody(refundItem("gold", "SIMULATE_REFUND_DECLINE"))
                let (payload, _) = try await change(fixture, .requestRefund, id, request)
                #expect(payload.revocationDate == nil)
                #expect(fixture.state.notifications.dropFirst(before).map(\.draft.type) == [.refundDeclined])
            }
        }
    }

    @Test func `a subscription is cancelled`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture)
            let (payload, renewal) = try await change(fixture, .cancelSubscription, id, body())
            #expect(payload.revocationDate == nil && renewal?.autoRenewStatus == .off)
        }
    }

    @Test func `a subscription is revoked with what is left of it`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture)
            fixture.clock.advance(by: 15 * 86_400)
            let request = body(
                ("refundReason", "OTHER"), ("refundRiskingPreference", true), ("refundType", "PRORATED"))
            let (payload, renewal) = try await change(fixture, .revokeSubscription, id, request)
            #expect(payload.revocationType == .refundProrated && payload.revocationPercentage == 50_000)
            #expect(renewal?.autoRenewStatus == .off)
        }
    }

    @Test func `metadata change at once or with the next period`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture)
            let request = body(
                ("descriptors", ["displayName": "New", "effective": "NEXT_BILL_CYCLE"]),
                (
                    "items",
                    [
                        [
                            "currentSKU": "gold", "SKU": "platinum", "displayName": "Platinum",
                            "effective": "IMMEDIATELY",
                        ]
                    ]
                ))
            let (payload, renewal) = try await change(fixture, .changeSubscriptionMetadata, id, request)
            #expect(payload.advancedCommerceInfo?.descriptors?.displayName == "Bundle")
            #expect(payload.advancedCommerceInfo?.items?.map(\.sku) == ["platinum", "extra"])
            let info = try #require(renewal?.advancedCommerceInfo)
            #expect(info.descriptors?.displayName == "New" && info.items?.map(\.sku) == ["platinum", "extra"])
            #expect(info.requestReferenceId == Self.reference && info.consistencyToken != nil)
            #expect(info.items?[0].description == "What gold is")
        }
    }

    @Test func `prices that rise wait for consent`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture)
            let request = body(("items", [["SKU": "gold", "price": 9990], ["SKU": "extra", "price": 990]]))
            let (payload, renewal) = try await change(fixture, .changeSubscriptionPrice, id, request)
            #expect(payload.advancedCommerceInfo?.items?.map(\.price) == [Self.price, Self.price])
            let items = try #require(renewal?.advancedCommerceInfo?.items)
            #expect(items.map(\.price) == [Self.price, 990])
            #expect(items[0].priceIncreaseInfo?.status == .pending && items[0].priceIncreaseInfo?.price == 9990)
        }
    }

    @Test func `an ordinary subscription is migrated`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture, skus: nil)
            let request = body(
                ("descriptors", ["displayName": "Bundle"]), ("targetProductId", "generic"), ("taxCode", "S021"),
                ("items", [["SKU": "gold", "displayName": "Gold", "description": "All of it"]]))
            let (_, renewal) = try await change(fixture, .migrateSubscription, id, request)
            #expect(renewal?.advancedCommerceInfo?.items?.map(\.sku) == ["gold"])
            #expect(renewal?.advancedCommerceInfo?.taxCode == "S021")
            let migrated = try buy(fixture)
            try fixture.expect(.generalBadRequest, await send(fixture, .migrateSubscription, migrated, request))
        }
    }

    // MARK: What they refuse

    @Test func `a reference belongs to one request`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture)
            _ = try await change(fixture, .cancelSubscription, id, body())
            _ = try await change(fixture, .cancelSubscription, id, body(reference: Self.reference.uppercased()))
            let request = refundBody(refundItem("gold"))
            try fixture.expect(.generalBadRequest, await send(fixture, .requestRefund, id, request))
            try fixture.expect(
                .generalBadRequest, await send(fixture, .cancelSubscription, try buy(fixture), body()))
        }
    }

    @Test func `identifiers are those of Advanced Commerce purchases`() async throws {
        try await SimulatorFixture.with { fixture in
            let ordinary = try buy(fixture, skus: nil)
            let once = try buy(fixture, .nonConsumable)
            let cases: [(String, APIErrorCode)] = [
                ("abc", .invalidTransactionId), ("1", .transactionIdNotFound), (ordinary, .generalBadRequest),
                (once, .generalBadRequest),
            ]
            for (id, error) in cases {
                try fixture.expect(error, await send(fixture, .cancelSubscription, id, body()))
            }
            let appTransaction = try #require(try fixture.state.transaction(once).appTransactionId)
            try fixture.expect(
                .appTransactionIdNotSupported, await send(fixture, .cancelSubscription, appTransaction, body()))
        }
    }

    @Test func `bodies must keep Apple's rules`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try buy(fixture)
            func long(_ count: Int) -> JSONValue { .string(String(repeating: "x", count: count)) }
            let revoke: [(String, JSONValue)] = [("refundReason", "OTHER"), ("refundRiskingPreference", true)]
            let migrate: [(String, JSONValue)] = [
                ("descriptors", [:]), ("targetProductId", "generic"), ("taxCode", "S021"),
            ]
            let cases: [(Endpoint.Operation, JSONValue)] = [
                (.cancelSubscription, [:]), (.cancelSubscription, body(reference: "mine")),
                (.cancelSubscription, ["requestInfo": ["requestReferenceId": 7]]),
                (.cancelSubscription, body(("storefront", "usa"))),
                (
                    .cancelSubscription,
                    ["requestInfo": ["requestReferenceId": .string(Self.reference), "appAccountToken": "me"]]
                ),
                (.requestRefund, refundBody()), (.requestRefund, refundBody([:])),
                (.requestRefund, body(("items", .array([refundItem("gold")])))),
                (.requestRefund, refundBody(refundItem("silver"))),
                (.requestRefund, refundBody(refundItem("gold", "BOREDOM"))),
                (.requestRefund, refundBody(refundItem("gold", "LEGAL", "HALF"))),
                (.requestRefund, refundBody(refundItem("gold", "LEGAL", "CUSTOM"))),
                (.requestRefund, refundBody(refundItem(String(repeating: "x", count: 129)))),
                (.revokeSubscription, .object(JSONObject(revoke))),
                (.revokeSubscription, body(revoke[0], ("refundType", "FULL"))),
                (.revokeSubscription, body(revoke[0], revoke[1], ("refundType", "CUSTOM"))),
                (.changeSubscriptionMetadata, body()),
                (.changeSubscriptionMetadata, body(("items", []))),
                (.changeSubscriptionMetadata, body(("descriptors", ["displayName": "New"]))),
                (
                    .changeSubscriptionMetadata,
                    body(("descriptors", ["displayName": long(31), "effective": "IMMEDIATELY"]))
                ),
                (
                    .changeSubscriptionMetadata,
                    body(("descriptors", ["description": long(46), "effective": "IMMEDIATELY"]))
                ),
                (.changeSubscriptionMetadata, body(("items", [["currentSKU": "silver", "effective": "IMMEDIATELY"]]))),
                (.changeSubscriptionMetadata, body(("items", [["currentSKU": "gold", "effective": "SOON"]]))),
                (.changeSubscriptionPrice, body(("items", []))),
                (.changeSubscriptionPrice, body(("items", [["SKU": "gold"]]))),
                (.changeSubscriptionPrice, body(("items", [["SKU": "gold", "price": -1]]))),
                (.changeSubscriptionPrice, body(("items", [["SKU": "gold", "price": 1]]), ("currency", "dollar"))),
                (.changeSubscriptionPrice, body(("items", [["SKU": "silver", "price": 1]]))),
                (.migrateSubscription, body(migrate[0], migrate[1], migrate[2], ("items", []))),
                (.migrateSubscription, body(migrate[0], migrate[1], ("items", [["SKU": "gold"]]))),
            ]
            for (operation, body) in cases {
                let response = try await send(fixture, operation, id, body)
                #expect(response.status == 400, "\(operation.name) \(body)")
                let error = try ErrorPayload(parsing: response.body)
                #expect(error.errorCode == 4_000_000, "\(operation.name) \(body)")
            }
            #expect(try fixture.state.transaction(id).revocationDate == nil)
            let text = try await fixture.call(Endpoint(.cancelSubscription, [id]), body: Array("[]".utf8))
            #expect(text.status == 400 && text.body.isEmpty)
        }
    }
}
