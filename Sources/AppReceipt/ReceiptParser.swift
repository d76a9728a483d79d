import Foundation
import JSON

/// Reads the attributes of an app receipt's content, once, from front to back.
///
/// Where an attribute occurs twice, the last one counts; those of types that no guide names are kept by number.
struct ReceiptParser {
    /// One attribute, its value not yet looked at.
    private struct Attribute {
        let type: Int64
        let version: Int64
        let value: BERReader.Octets
    }

    private let limits: ReceiptLimits
    private var attributeCount = 0
    /// How many attributes of the purchase before were kept by number, which tells how many there will be in the next.
    private var expectedOthers = 0
    /// The product of the purchase before, which is often that of the next.
    private var lastProductID: String?

    private init(_ limits: ReceiptLimits) { self.limits = limits }

    /// Reads a content: a SET of attributes.
    static func parse(_ content: [UInt8], _ limits: ReceiptLimits) throws(ReceiptDecodingError) -> AppReceipt {
        var parser = ReceiptParser(limits)
        var draft = ReceiptDraft()
        var reader = BERReader(content, maximumDepth: limits.depth)
        var attributes = try reader.enter(BERReader.Tag.set, "a set of attributes", in: content)
        try reader.expectEnd("nothing after the attributes")
        while !attributes.isAtEnd {
            let attribute = try parser.next(&attributes, in: content)
            do throws(ReceiptDecodingError) {
                switch attribute.value {
                case .whole(let value): try parser.read(attribute, value, in: content, into: &draft)
                case .pieces(let octets, let value): try parser.read(attribute, value, in: octets, into: &draft)
                }
            } catch {
                throw error.within(
                    attribute: attribute.type, purchase: attribute.type == 17 ? draft.purchases.count : nil)
            }
        }
        return try draft.receipt()
    }

    private mutating func next(_ set: inout BERReader, in bytes: [UInt8]) throws(ReceiptDecodingError) -> Attribute {
        guard attributeCount < limits.attributes else {
            throw ReceiptDecodingError(.tooManyAttributes(limit: limits.attributes), at: set.position)
        }
        attributeCount += 1
        var sequence = try set.enter(BERReader.Tag.sequence, "an attribute", in: bytes)
        let type = try sequence.integer("an attribute's type", in: bytes)
        let version = try sequence.integer("an attribute's version", in: bytes)
        let value = try sequence.octetString("an attribute's value", in: bytes)
        try sequence.expectEnd("the end of an attribute")
        return Attribute(type: type, version: version, value: value)
    }

    private mutating func read(
        _ attribute: Attribute, _ value: BERReader, in bytes: [UInt8], into draft: inout ReceiptDraft
    ) throws(ReceiptDecodingError) {
        switch attribute.type {
        case 0: draft.environment = try value.text(in: bytes).map(ReceiptEnvironment.init(name:))
        case 2:
            draft.bundleIDBytes = Array(bytes[value.rest])
            draft.bundleID = try value.text(in: bytes)
        case 3: draft.applicationVersion = try value.text(in: bytes)
        case 4: draft.opaqueValue = Array(bytes[value.rest])
        case 5: draft.deviceHash = Array(bytes[value.rest])
        case 12: draft.creationDate = try value.date(in: bytes)
        case 17:
            guard draft.purchases.count < limits.purchases else {
                throw ReceiptDecodingError(.tooManyPurchases(limit: limits.purchases))
            }
            draft.purchases.append(try purchase(value, in: bytes))
        case 19: draft.originalApplicationVersion = try value.text(in: bytes)
        case 21: draft.expirationDate = try value.date(in: bytes)
        default: draft.otherAttributes.append(Self.unread(attribute, value, in: bytes))
        }
    }

    private mutating func purchase(
        _ value: BERReader, in bytes: [UInt8]
    ) throws(ReceiptDecodingError) -> ReceiptPurchase {
        var value = value
        var attributes = try value.enter(BERReader.Tag.set, "a purchase: a set of attributes", in: bytes)
        try value.expectEnd("nothing after a purchase")
        var purchase = ReceiptPurchase()
        purchase.otherAttributes.reserveCapacity(expectedOthers)
        while !attributes.isAtEnd {
            let attribute = try next(&attributes, in: bytes)
            do throws(ReceiptDecodingError) {
                switch attribute.value {
                case .whole(let value): try read(attribute, value, in: bytes, into: &purchase)
                case .pieces(let octets, let value): try read(attribute, value, in: octets, into: &purchase)
                }
            } catch {
                throw error.within(attribute: attribute.type)
            }
        }
        // A purchase of very many must not have room made for as many in each that follows.
        expectedOthers = min(purchase.otherAttributes.count, 16)
        return purchase
    }

    private mutating func read(
        _ attribute: Attribute, _ value: BERReader, in bytes: [UInt8], into purchase: inout ReceiptPurchase
    ) throws(ReceiptDecodingError) {
        switch attribute.type {
        case 1701: purchase.quantity = try value.number(in: bytes).flatMap { Int(exactly: $0) }
        case 1702:
            purchase.productID = try value.text(in: bytes, known: lastProductID)
            lastProductID = purchase.productID
        case 1703: purchase.transactionID = try value.text(in: bytes)
        case 1704: purchase.purchaseDate = try value.date(in: bytes)
        case 1705: purchase.originalTransactionID = try value.text(in: bytes, known: purchase.transactionID)
        case 1706: purchase.originalPurchaseDate = try value.date(in: bytes)
        case 1708: purchase.expirationDate = try value.date(in: bytes)
        case 1711: purchase.webOrderLineItemID = try value.number(in: bytes).flatMap { $0 == 0 ? nil : $0 }
        case 1712: purchase.cancellationDate = try value.date(in: bytes)
        case 1719: purchase.isInIntroductoryOfferPeriod = try value.number(in: bytes).map { $0 != 0 }
        default: purchase.otherAttributes.append(Self.unread(attribute, value, in: bytes))
        }
    }

    private static func unread(_ attribute: Attribute, _ value: BERReader, in bytes: [UInt8]) -> ReceiptAttribute {
        ReceiptAttribute(type: attribute.type, version: attribute.version, value: bytes[value.rest])
    }
}

/// A receipt of which not every attribute has come yet.
private struct ReceiptDraft {
    var bundleID: String?
    var bundleIDBytes: [UInt8] = []
    var environment: ReceiptEnvironment?
    var applicationVersion: String?
    var originalApplicationVersion: String?
    var creationDate: Date?
    var expirationDate: Date?
    var opaqueValue: [UInt8] = []
    var deviceHash: [UInt8] = []
    var purchases: [ReceiptPurchase] = []
    var otherAttributes: [ReceiptAttribute] = []

    /// The receipt, if what every one has is there.
    func receipt() throws(ReceiptDecodingError) -> AppReceipt {
        guard let bundleID else { throw ReceiptDecodingError(.missingAttribute(2)) }
        guard let creationDate else { throw ReceiptDecodingError(.missingAttribute(12)) }
        return AppReceipt(
            bundleID: bundleID, bundleIDBytes: bundleIDBytes, environment: environment,
            applicationVersion: applicationVersion, originalApplicationVersion: originalApplicationVersion,
            creationDate: creationDate, expirationDate: expirationDate, opaqueValue: opaqueValue,
            deviceHash: deviceHash, purchases: purchases, otherAttributes: otherAttributes)
    }
}

// MARK: Values of attributes

extension BERReader {
    /// The text that is the whole value (UTF8String or IA5String); nil for an empty one.
    ///
    /// `known`: a text that it may well be, which then need not be made again.
    fileprivate func text(in bytes: [UInt8], known: String? = nil) throws(ReceiptDecodingError) -> String? {
        guard let element = try string(in: bytes) else { return nil }
        if let known, known.utf8.count == element.content.count, known.utf8.elementsEqual(bytes[element.content]) {
            return known
        }
        guard let text = UntrustedText(validating: bytes[element.content]) else {
            throw BERReader.unexpected(element, "UTF-8")
        }
        return text.streamSafe
    }

    /// The date that is the whole value (RFC 3339 in a string); nil for an empty one.
    fileprivate func date(in bytes: [UInt8]) throws(ReceiptDecodingError) -> Date? {
        guard let element = try string(in: bytes) else { return nil }
        guard let date = RFC3339Date.parse(bytes, element.content) else {
            throw BERReader.unexpected(element, "a date (RFC 3339)")
        }
        return date
    }

    /// The integer that is the whole value; nil for an empty value.
    fileprivate func number(in bytes: [UInt8]) throws(ReceiptDecodingError) -> Int64? {
        if isAtEnd { return nil }
        var reader = self
        let number = try reader.integer("an integer", in: bytes)
        try reader.expectEnd("the end of the value")
        return number
    }

    private func string(in bytes: [UInt8]) throws(ReceiptDecodingError) -> Element? {
        if isAtEnd { return nil }
        var reader = self
        let element = try reader.next(in: bytes)
        guard element.tag == Tag.utf8String || element.tag == Tag.ia5String else {
            throw BERReader.unexpected(element, "a text (UTF8String or IA5String)")
        }
        try reader.expectEnd("the end of the value")
        return element.content.isEmpty ? nil : element
    }
}
