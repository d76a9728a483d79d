import Foundation
import Testing

@testable import AppReceipt

/// What a content says, attribute by attribute.
struct ReceiptParsingTests {
    private func parse(_ content: [UInt8], _ change: (inout ReceiptLimits) -> Void = { _ in }) throws -> AppReceipt {
        var limits = ReceiptLimits()
        change(&limits)
        return try ReceiptParser.parse(content, limits)
    }

    private func fault(
        _ content: [UInt8], _ change: (inout ReceiptLimits) -> Void = { _ in }
    ) -> ReceiptDecodingError? {
        do {
            _ = try parse(content, change)
            return nil
        } catch {
            return error as? ReceiptDecodingError
        }
    }

    @Test func `every attribute of the guide is read, and the others are kept by number`() throws {
        let purchase = BER.purchase([
            BER.attribute(1701, BER.integer(3)), BER.attribute(1702, BER.utf8("coins.100")),
            BER.attribute(1703, BER.utf8("2000000100000001")), BER.attribute(1704, BER.ia5("2025-06-01T00:00:00Z")),
            BER.attribute(1705, BER.utf8("2000000100000000")), BER.attribute(1706, BER.ia5("2025-05-01T00:00:00Z")),
            BER.attribute(1708, BER.ia5("2025-07-01T00:00:00Z")), BER.attribute(1711, BER.integer(1 << 40)),
            BER.attribute(1712, BER.ia5("2025-06-02T00:00:00Z")), BER.attribute(1719, BER.integer(1)),
            BER.attribute(1713, BER.integer(0), version: 2),
        ])
        let receipt = try parse(
            BER.content([
                BER.attribute(0, BER.utf8("ProductionSandbox")), BER.attribute(3, BER.utf8("1.2")),
                BER.attribute(4, [1, 2, 3]), BER.attribute(5, [4, 5, 6]), purchase,
                BER.attribute(19, BER.utf8("1.0")), BER.attribute(21, BER.ia5("4001-01-01T00:00:00Z")),
                BER.attribute(-7, [0xFF]), BER.purchase([]),
            ]))
        #expect(receipt.environment == .productionSandbox)
        #expect(receipt.bundleID == "com.example.coins")
        #expect(receipt.bundleIDBytes == BER.utf8("com.example.coins"))
        #expect(receipt.applicationVersion == "1.2")
        #expect(receipt.opaqueValue == [1, 2, 3])
        #expect(receipt.deviceHash == [4, 5, 6])
        #expect(receipt.creationDate == Date(timeIntervalSince1970: 1_750_000_000))
        #expect(receipt.originalApplicationVersion == "1.0")
        #expect(receipt.expirationDate == Date(timeIntervalSince1970: 64_092_211_200))
        #expect(receipt.otherAttributes == [ReceiptAttribute(type: -7, version: 1, value: [0xFF])])
        try #require(receipt.purchases.count == 2)
        var expected = ReceiptPurchase()
        expected.quantity = 3
        expected.productID = "coins.100"
        expected.transactionID = "2000000100000001"
        expected.originalTransactionID = "2000000100000000"
        expected.purchaseDate = Date(timeIntervalSince1970: 1_748_736_000)
        expected.originalPurchaseDate = Date(timeIntervalSince1970: 1_746_057_600)
        expected.expirationDate = Date(timeIntervalSince1970: 1_751_328_000)
        expected.webOrderLineItemID = 1 << 40
        expected.cancellationDate = Date(timeIntervalSince1970: 1_748_822_400)
        expected.isInIntroductoryOfferPeriod = true
        expected.otherAttributes = [ReceiptAttribute(type: 1713, version: 2, value: BER.integer(0)[...])]
        #expect(receipt.purchases[0] == expected)
        #expect(receipt.purchases[1] == ReceiptPurchase())
    }

    @Test func `what is empty is not there, and a web order line item of 0 is none`() throws {
        let receipt = try parse(
            BER.content([
                BER.attribute(21, BER.ia5("")), BER.attribute(3, []),
                BER.purchase([
                    BER.attribute(1708, BER.ia5("")), BER.attribute(1712, []), BER.attribute(1711, BER.integer(0)),
                    BER.attribute(1701, []), BER.attribute(1702, BER.utf8("")), BER.attribute(1719, BER.integer(0)),
                ]),
            ]))
        #expect(receipt.expirationDate == nil)
        #expect(receipt.applicationVersion == nil)
        var expected = ReceiptPurchase()
        expected.isInIntroductoryOfferPeriod = false
        #expect(receipt.purchases == [expected])
    }

    @Test func `of an attribute that is there twice, the last one counts`() throws {
        let content = BER.content([BER.attribute(2, BER.utf8("com.example.other"))])
        #expect(try parse(content).bundleID == "com.example.other")
    }

    @Test func `lengths may be indefinite and octet strings in pieces, everywhere`() throws {
        func attribute(_ type: Int64, _ value: [UInt8]) -> [UInt8] {
            BER.indefinite(0x30, BER.integer(type) + BER.integer(1) + BER.pieces(value))
        }
        let purchase = BER.indefinite(0x31, attribute(1703, BER.utf8("7")) + attribute(1799, [1, 2, 3, 4]))
        let content = BER.indefinite(
            0x31,
            attribute(2, BER.utf8("com.example.coins")) + attribute(12, BER.ia5("2025-06-15T15:06:40Z"))
                + attribute(17, purchase) + attribute(99, [5, 6, 7]))
        let receipt = try parse(content)
        #expect(receipt.bundleID == "com.example.coins")
        #expect(receipt.purchases.map(\.transactionID) == ["7"])
        #expect(receipt.purchases[0].otherAttributes.map(\.value) == [[1, 2, 3, 4]])
        #expect(receipt.otherAttributes.map(\.value) == [[5, 6, 7]])
    }

    @Test func `what every receipt has must be there`() {
        let name = BER.attribute(2, BER.utf8("com.example.coins"))
        #expect(fault(BER.set([name]))?.reason == .missingAttribute(12))
        #expect(fault(BER.set([name, BER.attribute(12, BER.ia5(""))]))?.reason == .missingAttribute(12))
        let date = BER.attribute(12, BER.ia5("2025-06-15T15:06:40Z"))
        #expect(fault(BER.set([date]))?.reason == .missingAttribute(2))
    }

    @Test(
        arguments: [
            ([BER.attribute(3, BER.integer(1))], nil, [3], "a text (UTF8String or IA5String)"),
            ([BER.attribute(3, BER.element(0x0C, [0xFF]))], nil, [3], "UTF-8"),
            ([BER.attribute(3, BER.utf8("1") + [0])], nil, [3], "the end of the value"),
            ([BER.attribute(21, BER.ia5("tomorrow"))], nil, [21], "a date (RFC 3339)"),
            ([BER.attribute(17, BER.octets([]))], 0, [17], "a purchase: a set of attributes"),
            ([BER.attribute(17, BER.set([]) + BER.octets([]))], 0, [17], "nothing after a purchase"),
            (
                [BER.purchase([]), BER.purchase([BER.attribute(1701, BER.utf8("3"))])], 1, [17, 1701], "an integer"
            ),
            ([BER.octets([])], nil, [], "an attribute"),
            ([BER.sequence(BER.utf8("3"))], nil, [], "an attribute's type"),
            ([BER.sequence(BER.integer(3), BER.octets([]))], nil, [], "an attribute's version"),
            ([BER.sequence(BER.integer(3), BER.integer(1), BER.utf8("1"))], nil, [], "an attribute's value"),
            (
                [BER.sequence(BER.integer(3), BER.integer(1), BER.octets([]), BER.octets([]))], nil, [],
                "the end of an attribute"
            ),
        ] as [([[UInt8]], Int?, [Int64], String)])
    func `an undecodable value is told with its place`(
        attributes: [[UInt8]], purchase: Int?, numbers: [Int64], expected: String
    ) throws {
        let error = try #require(fault(BER.content(attributes)))
        #expect(error.reason == .malformed(expected: expected))
        #expect(error.purchase == purchase)
        #expect(error.attributes == numbers)
        #expect(error.offset != nil)
        #expect("\(error)".hasPrefix("expected \(expected)"))
    }

    @Test func `the content is one set and nothing else`() {
        #expect(fault([])?.reason == .truncated)
        #expect(fault(BER.sequence())?.reason == .malformed(expected: "a set of attributes"))
        #expect(fault(BER.content() + [0])?.reason == .malformed(expected: "nothing after the attributes"))
        #expect("\(fault(Array(BER.content().dropLast()))!)" == "it ends too early, byte 0")
    }

    @Test func `purchases and attributes have limits`() throws {
        let content = BER.content([BER.purchase([]), BER.purchase([]), BER.purchase([BER.attribute(1, [])])])
        #expect(try parse(content) { $0.purchases = 3 }.purchases.count == 3)
        #expect(fault(content) { $0.purchases = 2 }?.reason == .tooManyPurchases(limit: 2))
        #expect(try parse(content) { $0.attributes = 6 }.purchases.count == 3)
        #expect(fault(content) { $0.attributes = 5 }?.reason == .tooManyAttributes(limit: 5))
        #expect(fault(content) { $0.depth = 1 }?.reason == .tooDeep(limit: 1))
    }
}
