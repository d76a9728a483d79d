import Domain
import Foundation
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// Every code that an upload is answered with, on both paths.
struct ReceiptUploadTests {
    @Test(arguments: [ReceiptFixture.dropIn, ReceiptFixture.path])
    func `a receipt that Apple confirms is a 200 with every field of the receipts API`(path: String) async throws {
        let fixture = try await ReceiptFixture()
        let reply = try await fixture.upload(
            "good",
            #""user_identifier":"alice","country_code":"de","identifier_for_vendor":"3F2504E0-4F89-11D3-9A0C-0305E82C3301","#
                + #""ip_address":"203.0.113.7","metadata":{"campaign" : [1,{"deep":{"er":null}}]}"#,
            to: path)
        #expect(reply.status == 200)
        #expect(reply.headers[.cacheControl] == "no-store")
        let json = try reply.json
        #expect(
            json.object?.keys.map(\.self) == [
                "id", "style", "app_family_id", "bundle_id", "is_fraud", "fraud_reason", "environment",
                "user_identifier",
                "metadata", "ip_address", "in_app_purchases", "created_at", "updated_at", "state", "flags",
            ])
        #expect(UUID(uuidString: try #require(json["id"]?.string)) != nil)
        #expect(UUID(uuidString: try #require(json["app_family_id"]?.string)) != nil)
        #expect(json["style"] == "unified" && json["bundle_id"] == "com.example.coins")
        #expect(json["is_fraud"] == false && json["fraud_reason"] == .null && json["environment"] == "production")
        #expect(json["user_identifier"] == "alice" && json["ip_address"] == "203.0.113.7")
        #expect(
            String(decoding: reply.body, as: UTF8.self).contains(#""metadata":{"campaign" : [1,{"deep":{"er":null}}]}"#)
        )
        #expect(
            json["created_at"]?["utc"] == "2023-11-14 22:13:20 UTC" && json["created_at"]?["ms"] == 1_700_000_000_000)
        #expect(json["state"] == "confirmed" && json["flags"] == [])
        #expect(json["in_app_purchases"]?.array?.count == 2)
        let links = try await fixture.handlers.stack.store.links(app: "coins", user: try UserID("alice"))
        #expect(Set(links.map(\.target.value)) == ["1", "2", "A"])
    }

    @Test func `a purchase has every field of its resource, and what receipt and Apple say beside`() async throws {
        let fixture = try await ReceiptFixture()
        let purchase = try #require(try await fixture.upload("good").json["in_app_purchases"]?[0])
        #expect(
            purchase.object?.keys.map(\.self) == [
                "id", "app_family_id", "fact_id", "version", "marketplace", "app_identifier", "product_id", "quantity",
                "type", "environment", "country_code", "currency_code", "user_identifier", "is_auto_renewing",
                "in_trial_period", "in_grace_period", "metadata", "entitlements", "purchased_at",
                "current_period_start_at", "current_period_end_at", "canceled_at", "canceled_by", "created_at",
                "updated_at", "last_synced_at", "receipt", "apple",
            ])
        #expect(purchase["product_id"] == "gems" && purchase["quantity"] == 1 && purchase["type"] == "Consumable")
        #expect(purchase["app_identifier"] == "com.example.coins" && purchase["marketplace"] == "itunes_connect")
        #expect(purchase["purchased_at"]?["utc"] == "1970-01-01 00:16:40 UTC" && purchase["entitlements"] == [])
        #expect(
            purchase["receipt"]?["transaction_id"] == "1" && purchase["receipt"]?["purchase_date"]?["ms"] == 1_000_000)
        #expect(purchase["apple"]?["transactionId"] == "1" && purchase["apple"]?["signedDate"] == 5_000_000)
    }

    @Test func `while Apple cannot be asked it is a 206 with the same body, which is found later`() async throws {
        let fixture = try await ReceiptFixture()
        for reason in [ServiceError.Reason.appleUnavailable, .budgetExhausted, .keyUnavailable] {
            for id in ["1", "2", "A"] { fixture.gateway.fail(id, with: ServiceError(reason, "not now")) }
            let reply = try await fixture.upload("good", #""user_identifier":"alice""#)
            #expect(reply.status == 206, "\(reason)")
            #expect(reply.headers[.cacheControl] == "no-store")
            #expect(try reply.json["state"] == "queued" && reply.json["is_fraud"] == false)
            #expect(try reply.json["in_app_purchases"]?[0]?["apple"] == .null)
            let id = try #require(try reply.json["id"]?.string)
            let found = try await fixture.handlers.send(.get, ReceiptFixture.path + "/" + id)
            #expect(try found.status == 200 && found.json == reply.json)
        }
        // Nobody is linked by what Apple has not confirmed.
        #expect(try await fixture.handlers.stack.store.links(app: "coins", user: try UserID("alice")).isEmpty)
    }

    @Test func `the same receipt again is the same resource`() async throws {
        let fixture = try await ReceiptFixture()
        let first = try await fixture.upload("good", #""user_identifier":"alice","metadata":{"a":1}"#).json
        let second = try await fixture.upload("good", #""country_code":"DE""#, to: ReceiptFixture.path).json
        #expect(first["id"] == second["id"] && second["metadata"] == ["a": 1])
        #expect(try await fixture.handlers.send(.get, ReceiptFixture.path).json["receipts"]?.array?.count == 1)
    }

    @Test func `many purchases of one Apple Account cost one list, and all of them are answered`() async throws {
        let ids = (1...30).map(String.init)
        let fixture = try await ReceiptFixture(accounts: [ids.map { .sample(id: $0, account: "A") }])
        fixture.know("many", ids: ids)
        let reply = try await fixture.upload("many", #""user_identifier":"alice""#)
        #expect(reply.status == 200)
        let purchases = try #require(try reply.json["in_app_purchases"]?.array)
        #expect(purchases.map { $0["receipt"]?["transaction_id"]?.string } == ids)
        #expect(purchases.allSatisfy { $0["apple"] != .null })
        #expect(Set(purchases.map { $0["id"]?.string }).count == 30)
        #expect(fixture.gateway.questions.count == 2)
        let links = try await fixture.handlers.stack.store.links(app: "coins", user: try UserID("alice"))
        #expect(Set(links.map(\.target.value)) == Set(ids + ["A"]))
    }

    @Test func `a fresh installation has nothing to confirm`() async throws {
        let fixture = try await ReceiptFixture()
        fixture.know("fresh", ids: [])
        let reply = try await fixture.upload("fresh")
        #expect(try reply.status == 200 && reply.json["in_app_purchases"] == [] && reply.json["state"] == "confirmed")
        #expect(fixture.gateway.questions.isEmpty)
    }

    @Test(arguments: ReceiptSignatureFault.allCases)
    func `a signature that is not Apple's is a 402 with its reason, and nothing is kept`(
        fault: ReceiptSignatureFault
    ) async throws {
        let fixture = try await ReceiptFixture()
        fixture.reader.know("forged", as: .failure(.signature(fault)))
        for path in [ReceiptFixture.dropIn, ReceiptFixture.path] {
            let reply = try await fixture.upload("forged", to: path)
            #expect(reply.status == 402)
            #expect(try reply.json["type"] == "urn:purser:error:receipt-not-signed")
            #expect(try reply.json["violations"]?[0]?["field"] == "receipt")
            #expect(try reply.json["violations"]?[0]?["rule"]?.string == fault.rawValue)
        }
        #expect(try await fixture.handlers.send(.get, ReceiptFixture.path).json["receipts"] == [])
    }

    @Test func `without a right token it is a 401, without the scope for any app a 403`() async throws {
        let fixture = try await ReceiptFixture(scopes: Set(Scope.allCases).subtracting([.receiptsWrite]))
        for token in [nil, "wrong"] as [String?] {
            let reply = try await fixture.handlers.send(
                .post, ReceiptFixture.dropIn, body: fixture.body("good"), token: token)
            #expect(reply.status == 401 && reply.headers[.wwwAuthenticate] == "Bearer")
        }
        let refused = try await fixture.upload("good")
        #expect(refused.status == 403)
        #expect(try refused.json["detail"]?.string?.contains("receipts:write") == true)
    }

    @Test func `as many signatures as can be checked are being checked: 503`() async throws {
        let fixture = try await ReceiptFixture()
        fixture.reader.know("busy", as: .failure(.busy))
        let reply = try await fixture.upload("busy")
        #expect(reply.status == 503 && reply.headers[.retryAfter] == "1")
    }

    @Test func `what Apple says can show that it is not genuine: 200 with is_fraud and a reason`() async throws {
        let fixture = try await ReceiptFixture()
        let foreign = ServiceError(.appleAnswerInvalid, "not ours", cause: ServiceError.otherAppCause)
        fixture.know("foreign", ids: ["7"])
        fixture.gateway.fail("7", with: foreign)
        let reply = try await fixture.upload("foreign")
        #expect(reply.status == 200)
        #expect(try reply.json["is_fraud"] == true && reply.json["fraud_reason"] == "TRANSACTION_OF_ANOTHER_APP")
        #expect(try reply.json["state"] == "fraud")
        fixture.know("unknown", ids: ["8"])
        let unknown = try await fixture.upload("unknown")
        #expect(try unknown.status == 206 && unknown.json["is_fraud"] == false)
    }

    @Test func `a revoked purchase, another device and another user's link are flags, never fraud`() async throws {
        let fixture = try await ReceiptFixture(accounts: [[.sample(id: "1", account: "A", revoked: 10)]])
        fixture.know("flagged", device: .mismatch, ids: ["1"])
        _ = try await fixture.handlers.stack.store.declare(
            try .sample(.originalTransactionId, "1", user: "bob"), transfer: false)
        let reply = try await fixture.upload(
            "flagged",
            #""user_identifier":"alice","identifier_for_vendor":"3F2504E0-4F89-11D3-9A0C-0305E82C3301""#)
        #expect(try reply.status == 200 && reply.json["is_fraud"] == false)
        #expect(try reply.json["flags"] == ["DEVICE_MISMATCH", "LINK_CONFLICT", "REVOKED_PURCHASE"])
        #expect(try reply.json["in_app_purchases"]?[0]?["canceled_by"] == "marketplace")
    }
}
