import Foundation

/// Reads the attributes of an app receipt's content, once, from front to back.
///
/// Where an attribute occurs twice, the last one counts; those of types that no guide names are kept by number.
struct ReceiptParser {
    /// One attribute, its value not yet looked at.
    private struct Attribute {
        let type: Int64
        let version: Int64
        var value: BERReader

        var unread: ReceiptAttribute { ReceiptAttribute(type: type, version: version, value: value.rest) }
    }

    private let limits: ReceiptLimits
    private var attributeCount = 0

    private init(_ limits: ReceiptLimits) { self.limits = limits }

    /// Reads a content.
    ///
    /// - Parameter content: The octets of the container's content: a SET of attributes.
    static func parse(_ content: BERReader, _ limits: ReceiptLimits) throws(ReceiptDecodingError) -> AppReceipt {
        var parser = ReceiptParser(limits)
        return try parser.receipt(content)
    }

    private mutating func receipt(_ content: BERReader) throws(ReceiptDecodingError) -> AppReceipt {
        var content = content
        var attributes = try content.enter(BERReader.Tag.set, "a set of attributes")
        guard content.isAtEnd else {
            throw ReceiptDecodingError(.malformed(expected: "nothing after the attributes"), at: content.position)
        }
        var draft = ReceiptDraft()
        while !attributes.isAtEnd {
            var attribute = try next(&attributes)
            do throws(ReceiptDecodingError) {
                try read(&attribute, into: &draft)
            } catch {
                throw error.within(
                    attribute: attribute.type, purchase: attribute.type == 17 ? draft.purchases.count : nil)
            }
        }
        return try draft.receipt()
    }

    private mutating func next(_ set: inout BERReader) throws(ReceiptDecodingError) -> Attribute {
        let start = set.position
        guard attributeCount < limits.attributes else {
            throw ReceiptDecodingError(.tooManyAttributes(limit: limits.attributes), at: start)
        }
        attributeCount += 1
        var sequence = try set.enter(BERReader.Tag.sequence, "an attribute")
        let type = try sequence.integer("an attribute's type")
        let version = try sequence.integer("an attribute's version")
        let value = try sequence.octetString("an attribute's value")
        guard sequence.isAtEnd else {
            throw ReceiptDecodingError(.malformed(expected: "the end of an attribute"), at: sequence.position)
        }
        return Attribute(type: type, version: version, value: value)
    }

    private mutating func read(_ attribute: inout Attribute, into draft: inout ReceiptDraft)
        throws(ReceiptDecodingError)
    {
        switch attribute.type {
        case 0: draft.environment = try attribute.value.text().map(ReceiptEnvironment.init(name:))
        case 2:
            draft.bundleIDBytes = Array(attribute.value.rest)
            draft.bundleID = try attribute.value.text()
        case 3: draft.applicationVersion = try attribute.value.text()
        case 4: draft.opaqueValue = Array(attribute.value.rest)
        case 5: draft.deviceHash = Array(attribute.value.rest)
        case 12: draft.creationDate = try attribute.value.date()
        case 17:
            guard draft.purchases.count < limits.purchases else {
                throw ReceiptDecodingError(.tooManyPurchases(limit: limits.purchases))
            }
            draft.purchases.append(try purchase(&attribute.value))
        case 19: draft.originalApplicationVersion = try attribute.value.text()
        case 21: draft.expirationDate = try attribute.value.date()
        default: draft.otherAttributes.append(attribute.unread)
        }
    }

    private mutating func purchase(_ value: inout BERReader) throws(ReceiptDecodingError) -> ReceiptPurchase {
        var attributes = try value.enter(BERReader.Tag.set, "a purchase: a set of attributes")
        try value.expectEnd()
        var purchase = ReceiptPurchase()
        while !attributes.isAtEnd {
            var attribute = try next(&attributes)
            do throws(ReceiptDecodingError) {
                try Self.read(&attribute, into: &purchase)
            } catch {
                throw error.within(attribute: attribute.type)
            }
        }
        return purchase
    }

    private static func read(
        _ attribute: inout Attribute, into purchase: inout ReceiptPurchase
    ) throws(ReceiptDecodingError) {
        switch attribute.type {
        case 1701: purchase.quantity = try attribute.value.number().flatMap { Int(exactly: $0) }
        case 1702: purchase.productID = try attribute.value.text()
        case 1703: purchase.transactionID = try attribute.value.text()
        case 1704: purchase.purchaseDate = try attribute.value.date()
        case 1705: purchase.originalTransactionID = try attribute.value.text()
        case 1706: purchase.originalPurchaseDate = try attribute.value.date()
        case 1708: purchase.expirationDate = try attribute.value.date()
        case 1711: purchase.webOrderLineItemID = try attribute.value.number().flatMap { $0 == 0 ? nil : $0 }
        case 1712: purchase.cancellationDate = try attribute.value.date()
        case 1719: purchase.isInIntroductoryOfferPeriod = try attribute.value.number().map { $0 != 0 }
        default: purchase.otherAttributes.append(attribute.unread)
        }
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
    fileprivate func expectEnd() throws(ReceiptDecodingError) {
        guard isAtEnd else { throw ReceiptDecodingError(.malformed(expected: "the end of the value"), at: position) }
    }

    /// The text that is the whole value (UTF8String or IA5String); nil for an empty one.
    fileprivate mutating func text() throws(ReceiptDecodingError) -> String? {
        guard let element = try string() else { return nil }
        guard let text = String(validating: bytes[element.content], as: UTF8.self) else {
            throw BERReader.unexpected(element, "UTF-8")
        }
        return text
    }

    /// The date that is the whole value (RFC 3339 in a string); nil for an empty one.
    fileprivate mutating func date() throws(ReceiptDecodingError) -> Date? {
        guard let element = try string() else { return nil }
        guard let date = RFC3339Date.parse(bytes[element.content]) else {
            throw BERReader.unexpected(element, "a date (RFC 3339)")
        }
        return date
    }

    /// The integer that is the whole value; nil for an empty value.
    fileprivate mutating func number() throws(ReceiptDecodingError) -> Int64? {
        if isAtEnd { return nil }
        let number = try integer("an integer")
        try expectEnd()
        return number
    }

    private mutating func string() throws(ReceiptDecodingError) -> Element? {
        if isAtEnd { return nil }
        let element = try next()
        guard element.tag == Tag.utf8String || element.tag == Tag.ia5String else {
            throw BERReader.unexpected(element, "a text (UTF8String or IA5String)")
        }
        try expectEnd()
        return element.content.isEmpty ? nil : element
    }
}
