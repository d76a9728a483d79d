import AppStoreSimulator
import Foundation
import Testing

@testable import AppReceipt

/// Receipts of a single transaction: read, and never proof by themselves.
struct LegacyTransactionReceiptTests {
    private func text(_ purchaseInfo: String, environment: String? = "Sandbox") -> [UInt8] {
        let encoded = Data(purchaseInfo.utf8).base64EncodedString()
        let environment = environment.map { "\t\"environment\" = \"\($0)\";\n" } ?? ""
        return Array("{\n\t\"signature\" = \"AAEC\";\n\t\"purchase-info\" = \"\(encoded)\";\n\(environment)}".utf8)
    }

    private func fault(_ bytes: [UInt8], _ limits: ReceiptLimits = ReceiptLimits()) -> ReceiptDecodingError.Reason? {
        do {
            _ = try LegacyTransactionReceipt(bytes, limits)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `what the simulator issues is read, every key of it`() throws {
        let issued = ReceiptFixtures.receipt()
        var purchase = issued.purchases[0]
        purchase.expirationDate = ReceiptFixtures.now + 86_400
        purchase.cancellationDate = ReceiptFixtures.now + 60
        purchase.webOrderLineItemID = 1 << 40
        purchase.isInIntroductoryOfferPeriod = true
        let bytes = try ReceiptFixtures.issuer.transactionReceipt(of: purchase, in: issued)
        let receipt = try LegacyTransactionReceipt(bytes)
        #expect(receipt.transactionID == purchase.transactionID)
        #expect(receipt.originalTransactionID == purchase.originalTransactionID)
        #expect(receipt.productID == "coins.100")
        #expect(receipt.bundleID == "com.example.coins")
        #expect(receipt.applicationVersion == "1.0")
        #expect(receipt.quantity == 1)
        #expect(receipt.purchaseDate == ReceiptFixtures.now)
        #expect(receipt.originalPurchaseDate == ReceiptFixtures.now)
        #expect(receipt.expirationDate == purchase.expirationDate)
        #expect(receipt.cancellationDate == purchase.cancellationDate)
        #expect(receipt.webOrderLineItemID == 1 << 40)
        #expect(receipt.isInIntroductoryOfferPeriod == true)
        #expect(receipt.environment == .sandbox)
        #expect(receipt.members["pod"] == "100")
        #expect(receipt.purchaseInfo["purchase-date"]?.hasSuffix("Etc/GMT") == true)
    }

    @Test func `of production it names no environment, and what is not there is nil`() throws {
        let bytes = text(
            #"{"transaction-id" = "7"; "bid" = "a.b"; "purchase-date-ms" = "-1"; "quantity" = "x";}"#, environment: nil)
        let receipt = try LegacyTransactionReceipt(bytes)
        #expect(receipt.environment == nil)
        #expect(receipt.transactionID == "7")
        #expect(receipt.purchaseDate == nil)
        #expect(receipt.quantity == nil)
        #expect(receipt.isInIntroductoryOfferPeriod == nil)
    }

    @Test func `texts may be bare words, hold escapes, and lack the last semicolon`() throws {
        let bytes = text(
            "{ transaction-id = 7; bid=\"a\\\"\\\\\\n\\t\\r\\101\\U20ac\" ;\n\"k\"=com.example/1:2_3$ } \0\0")
        let receipt = try LegacyTransactionReceipt(bytes)
        #expect(receipt.transactionID == "7")
        #expect(receipt.bundleID == "a\"\\\n\t\rA€")
        #expect(receipt.purchaseInfo["k"] == "com.example/1:2_3$")
    }

    @Test(
        arguments: [
            ("", .truncated), ("{", .truncated), ("{\"a\"", .truncated), ("{\"a\" = \"b", .truncated),
            ("{\"a\" = \"b\\", .truncated), ("{\"a\" = \"b\";", .truncated),
            ("{\"a\" = ;}", .malformed(expected: "a text")),
            ("{= \"b\";}", .malformed(expected: "a key")), ("{\"a\" \"b\";}", .malformed(expected: "=")),
            ("{\"a\" = \"b\" \"c\" = \"d\";}", .malformed(expected: "}")),
            ("{\"a\" = (1, 2);}", .malformed(expected: "a text")),
            ("{\"a\" = {b = c;};}", .malformed(expected: "a text")),
            ("{a = b;} {", .malformed(expected: "the end")),
            ("{a = \"\\9\\789\";}", .malformed(expected: "3 digits of a character")),
            ("{a = \"\\Ud800\";}", .malformed(expected: "4 digits of a character")),
            ("{bid = a;}", .malformed(expected: "a member transaction-id in purchase-info")),
            ("{transaction-id = 7;}", .malformed(expected: "a member bid in purchase-info")),
            ("{transaction-id = \"\"; bid = a;}", .malformed(expected: "a member transaction-id in purchase-info")),
        ] as [(String, ReceiptDecodingError.Reason)])
    func `what is no such list is told`(purchaseInfo: String, reason: ReceiptDecodingError.Reason) {
        #expect(fault(text(purchaseInfo)) == reason)
    }

    @Test func `the outer list must hold the inner one, in Base64`() {
        #expect(fault([]) == .empty)
        #expect(fault(Array("{a = b;}".utf8)) == .malformed(expected: "a member purchase-info"))
        #expect(fault(Array("{purchase-info = a;}".utf8)) == .malformed(expected: "Base64 in purchase-info"))
        #expect(fault([0x7B, 0x22, 0xFF, 0x22]) == .malformed(expected: "UTF-8"))
    }

    @Test func `bytes and members have limits`() {
        let bytes = text("{transaction-id = 7; bid = a;}")
        var limits = ReceiptLimits()
        limits.bytes = bytes.count - 1
        #expect(fault(bytes, limits) == .tooLarge(limit: bytes.count - 1))
        limits.bytes = bytes.count
        limits.members = 2
        #expect(fault(bytes, limits) == .tooManyAttributes(limit: 2))
        limits.members = 3
        #expect(fault(bytes, limits) == nil)
    }
}
