import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

struct SignatureRoutesTests {
    private let signatures = "/v1/apps/coins/signatures"

    private func violations(_ path: String, _ body: String) async throws -> [String] {
        let reply = try await RequestHandlerFixture(maximumBodyBytes: 8192).send(
            .post, "\(signatures)/\(path)", body: body)
        #expect(reply.status == 400, "\(String(decoding: reply.body, as: UTF8.self))")
        return try reply.json["violations"]?.array?.map {
            "\($0["field"]?.string ?? "") \($0["rule"]?.string ?? "")"
        } ?? []
    }

    @Test func `offers are signed, and the answer names key, nonce and time`() async throws {
        let fixture = try await RequestHandlerFixture()
        let promotional = try await fixture.send(
            .post, "\(signatures)/promotionalOffer",
            body: #"{"productId":"gold","offerIdentifier":"win.back-1","transactionId":"7"}"#)
        #expect(promotional.status == 200)
        let answer = try promotional.json
        #expect(Set(answer.object?.keys.map(\.self) ?? []) == ["signature", "keyId", "nonce", "issuedAt"])
        let request = StoreKitRequest.promotionalOffer(
            productID: "gold", offerIdentifier: "win.back-1", transactionID: "7")
        #expect(answer["signature"]?.string == "coins \(request)")
        #expect(answer["keyId"]?.string == FakeSignatures.keyID && answer["nonce"]?.string == FakeSignatures.nonce)
        #expect(answer["issuedAt"] == "2023-11-14T22:13:20.000Z")
        let introductory = try await fixture.send(
            .post, "\(signatures)/introductoryOffer",
            body: #"{"productId":"gold","allowIntroductoryOffer":false,"transactionId":"7"}"#)
        let decision = StoreKitRequest.introductoryOffer(productID: "gold", isAllowed: false, transactionID: "7")
        #expect(try introductory.json["signature"]?.string == "coins \(decision)")
    }

    @Test func `an offer that breaks rules is told all of them`() async throws {
        #expect(
            try await violations("promotionalOffer", #"{"offerIdentifier":"a b","transactionId":7,"nonce":"x"}"#)
                == ["productId required", "offerIdentifier format", "transactionId type", "nonce unknownField"])
        #expect(
            try await violations("introductoryOffer", #"{"productId":"..","allowIntroductoryOffer":"true"}"#)
                == ["productId format", "allowIntroductoryOffer type", "transactionId required"])
        #expect(
            try await violations(
                "promotionalOfferV1?days=3",
                #"{"productId":"p","offerIdentifier":"o","appAccountToken":"me","applicationUsername":"a b"}"#)
                == [
                    "days unknownParameter", "appAccountToken format", "applicationUsername format",
                    "applicationUsername conflict",
                ])
        #expect(
            try await violations(
                "promotionalOfferV1", #"{"productId":"p","offerIdentifier":"o","applicationUsername":"a\u2063b"}"#)
                == ["applicationUsername format"], "the separator cannot be smuggled in")
    }

    @Test(arguments: [
        ("appAccountToken", "018C0000-0000-7000-8000-00000000000A", "018c0000-0000-7000-8000-00000000000a"),
        ("applicationUsername", "SHA-1:AF", "sha-1:af"),
    ])
    func `the older form answers what StoreKit must be told, names in lower case`(
        field: String, given: String, signed: String
    ) async throws {
        let fixture = try await RequestHandlerFixture()
        let names: Set = ["encodedSignature", "productId", "nonce", "timestamp", "keyId", "offerIdentifier"]
        let reply = try await fixture.send(
            .post, "\(signatures)/promotionalOfferV1",
            body: #"{"\#(field)":"\#(given)","productId":"gold","offerIdentifier":"o"}"#)
        #expect(reply.status == 200)
        let answer = try reply.json
        #expect(Set(answer.object?.keys.map(\.self) ?? []) == names.union([field]))
        #expect(answer["timestamp"] == 1_700_000_000_000 && answer["productId"] == "gold")
        #expect(answer[field]?.string == signed)
        #expect(answer["encodedSignature"]?.string == Data("coins \(signed)".utf8).base64EncodedString())
        let nameless = try await fixture.send(
            .post, "\(signatures)/promotionalOfferV1", body: #"{"productId":"gold","offerIdentifier":"o"}"#)
        #expect(try Set(nameless.json.object?.keys.map(\.self) ?? []) == names)
    }

    @Test func `a request of the Advanced Commerce API is signed byte for byte`() async throws {
        let body = """
            { "version":"1", "operation" : "REACTIVATE_SUBSCRIPTION", "transactionId":"5",
              "requestInfo": {"requestReferenceId":"018c0000-0000-7000-8000-00000000000a", "appAccountToken":null},
              "storefront":null, "items": null }
            """
        let fixture = try await RequestHandlerFixture()
        let reply = try await fixture.send(.post, "\(signatures)/advancedCommerce", body: body)
        #expect(try reply.json["signature"]?.string == "coins \(StoreKitRequest.advancedCommerce(Array(body.utf8)))")
    }

    @Test func `an Advanced Commerce request is told every violation at every depth`() async throws {
        let violations = try await violations(
            "advancedCommerce",
            """
            {"operation":"MODIFY_SUBSCRIPTION","version":"2","requestInfo":{"requestReferenceId":"x","extra":1},
             "storefront":"XXX","currency":"usd","transactionId":"1","retainBillingCycle":true,
             "descriptors":{"effective":"NOW","displayName":"\(String(repeating: "x", count: 31))"},
             "periodChange":[],"addItems":[],
             "changeItems":[{"SKU":"a","currentSKU":"","description":"d","displayName":"n","price":-1,
               "effective":"IMMEDIATELY","reason":"UPGRADE",
               "offer":{"period":"P1M","periodCount":13,"price":1.5,"reason":"WIN_BACK","kind":"x"}}, 7],
             "removeItems":[{"sku":"a"}],"items":[]}
            """)
        #expect(
            violations == [
                "version enum", "requestInfo.requestReferenceId format", "requestInfo.extra unknownField",
                "storefront format", "currency format", "descriptors.displayName length", "descriptors.effective enum",
                "periodChange type", "addItems count", "changeItems[0].currentSKU length", "changeItems[0].price range",
                "changeItems[0].offer.periodCount range", "changeItems[0].offer.price type",
                "changeItems[0].offer.kind unknownField", "changeItems[1] type", "removeItems[0].SKU required",
                "removeItems[0].sku unknownField", "items unknownField",
            ])
        #expect(
            try await self.violations(
                "advancedCommerce",
                #"{"operation":"REACTIVATE_SUBSCRIPTION","version":"1","requestInfo":null,"transactionId":null}"#)
                == ["requestInfo required", "transactionId required"])
        #expect(
            try await self.violations("advancedCommerce", #"{"operation":"BUY","version":"1","anything":1}"#)
                == ["operation enum", "requestInfo required"], "what else belongs there cannot be told")
    }
}
