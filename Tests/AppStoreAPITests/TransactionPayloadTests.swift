import AppStoreAPI
import JSON
import Testing

struct TransactionPayloadTests {
    private static let full = #"""
        {"transactionId":"2000000000000001","originalTransactionId":"2000000000000000","webOrderLineItemId":"9",
         "bundleId":"com.example","productId":"p","subscriptionGroupIdentifier":"g","purchaseDate":1698148900000,
         "originalPurchaseDate":1698148800000,"expiresDate":1698149000000,"quantity":1,
         "type":"Auto-Renewable Subscription","appAccountToken":"7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11",
         "inAppOwnershipType":"PURCHASED","signedDate":1698148901000,"revocationReason":1,
         "revocationDate":1698148950000,"revocationType":"REFUND_PRORATED","revocationPercentage":50000,
         "isUpgraded":true,"offerType":1,"offerIdentifier":"o","offerDiscountType":"PAY_AS_YOU_GO",
         "offerPeriod":"P1M","environment":"Sandbox","storefront":"USA","storefrontId":"143441",
         "transactionReason":"PURCHASE","currency":"USD","price":10990,"appTransactionId":"71134",
         "billingPlanType":"MONTHLY","advancedCommerceInfo":{"taxCode":"C003","items":[]},
         "commitmentInfo":{"billingPeriodNumber":3}}
        """#

    @Test func `every field is read`() throws {
        let payload = try TransactionPayload(parsing: Array(Self.full.utf8))
        #expect(payload.transactionId == "2000000000000001")
        #expect(payload.purchaseDate == 1_698_148_900_000)
        #expect(payload.type == .autoRenewableSubscription)
        #expect(payload.inAppOwnershipType == .purchased)
        #expect(payload.revocationReason == .issue)
        #expect(payload.revocationType == .refundProrated)
        #expect(payload.revocationPercentage == 50_000)
        #expect(payload.isUpgraded == true)
        #expect(payload.offerType == .introductoryOffer)
        #expect(payload.offerDiscountType == .payAsYouGo)
        #expect(payload.environment == .sandbox)
        #expect(payload.transactionReason == .purchase)
        #expect(payload.price == 10_990)
        #expect(payload.billingPlanType == .monthly)
        #expect(payload.advancedCommerceInfo?.taxCode == "C003")
        #expect(payload.advancedCommerceInfo?.items == [])
        #expect(payload.commitmentInfo?.billingPeriodNumber == 3)
        #expect(payload.additional.isEmpty)
    }

    @Test func `no field is lost on the way out and back`() throws {
        let payload = try TransactionPayload(parsing: Array(Self.full.utf8))
        let written = payload.serialized()
        #expect(try TransactionPayload(parsing: written) == payload)
        let names = try Set(JSONScanner.members(of: written).keys)
        #expect(try names == Set(JSONScanner.members(of: Array(Self.full.utf8)).keys))
    }

    @Test func `values that are not known keep what they are`() throws {
        let payload = try TransactionPayload(
            parsing: Array(#"{"type":"Rental","offerType":9,"revocationReason":7,"inAppOwnershipType":"LENT"}"#.utf8))
        #expect(payload.type?.rawValue == "Rental")
        #expect(payload.offerType?.rawValue == 9)
        #expect(payload.revocationReason?.rawValue == 7)
        #expect(payload.inAppOwnershipType?.rawValue == "LENT")
    }

    @Test func `fields of another type are passed over`() throws {
        let payload = try TransactionPayload(
            parsing: Array(
                #"{"transactionId":1,"quantity":"1","isUpgraded":null,"price":1e300,"commitmentInfo":[]}"#.utf8))
        #expect(payload == TransactionPayload())
    }

    @Test func `dates of Xcode, with fractions and before 1970, are rounded`() throws {
        let payload = try TransactionPayload(
            parsing: Array(#"{"purchaseDate":1698148900123.6,"originalPurchaseDate":-62135769600000}"#.utf8))
        #expect(payload.purchaseDate == 1_698_148_900_124)
        #expect(payload.originalPurchaseDate == -62_135_769_600_000)
    }

    @Test(arguments: ["", "[]", #"{"a":1,"a":2}"#, "{} x"])
    func `what is not one JSON object is refused`(text: String) {
        #expect(throws: JSONError.self) { try TransactionPayload(parsing: Array(text.utf8)) }
    }
}
