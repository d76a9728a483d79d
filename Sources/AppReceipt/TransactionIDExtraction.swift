import Foundation
import JSON

/// What a receipt is, by its beginning.
package enum ReceiptStyle: Sendable, Equatable {
    /// An app receipt: a PKCS #7 container.
    case app
    /// The receipt of a single transaction: a property list.
    case transaction

    /// The style of a receipt.
    ///
    /// - Parameter bytes: The receipt, without Base64.
    /// - Throws: ``ReceiptDecodingError`` for what is neither.
    package init(of bytes: [UInt8]) throws(ReceiptDecodingError) {
        guard let first = bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            throw ReceiptDecodingError(.empty)
        }
        switch first {
        case UInt8(ascii: "{"): self = .transaction
        // A SEQUENCE; white space before it would not be passed over.
        case BERReader.Tag.sequence where bytes[0] == first: self = .app
        default: throw ReceiptDecodingError(.unknownFormat)
        }
    }
}

/// Takes a transaction id out of a receipt of either style, as Apple's libraries do: nothing is verified, and nothing is looked
/// at that does not lie on the way.
///
/// The id serves as the path parameter of calls to the App Store Server API, and as nothing else.
package enum TransactionIDExtraction {
    /// Finds a transaction id.
    ///
    /// - Parameters:
    ///   - bytes: The receipt, without Base64.
    ///   - limits: What it may cost.
    /// - Returns: Of an app receipt the first transaction id (1703) or original transaction id (1705), whichever comes first;
    ///   nil for a receipt without
    ///   any.
    /// - Throws: ``ReceiptDecodingError`` for what is no receipt.
    package static func transactionID(
        in bytes: [UInt8], _ limits: ReceiptLimits = ReceiptLimits()
    ) throws(ReceiptDecodingError) -> String? {
        switch try ReceiptStyle(of: bytes) {
        case .app: try fromAppReceipt(bytes, limits)
        case .transaction: try LegacyTransactionReceipt.lists(of: bytes, limits).inner["transaction-id"]
        }
    }

    private static func fromAppReceipt(
        _ bytes: [UInt8], _ limits: ReceiptLimits
    ) throws(ReceiptDecodingError) -> String? {
        switch try ReceiptContainer(bytes, limits).content {
        case .whole(let content): try fromContent(content, in: bytes)
        case .pieces(let octets, let content): try fromContent(content, in: octets)
        }
    }

    private static func fromContent(
        _ content: BERReader, in bytes: [UInt8]
    ) throws(ReceiptDecodingError) -> String? {
        var content = content
        var attributes = try content.enter(BERReader.Tag.set, "a set of attributes", in: bytes)
        while !attributes.isAtEnd {
            var attribute = try attributes.enter(BERReader.Tag.sequence, "an attribute", in: bytes)
            guard try attribute.integer("an attribute's type", in: bytes) == 17 else { continue }
            _ = try attribute.next(in: bytes)
            let found =
                switch try attribute.octetString("an attribute's value", in: bytes) {
                case .whole(let value): try fromPurchase(value, in: bytes)
                case .pieces(let octets, let value): try fromPurchase(value, in: octets)
                }
            if let found { return found }
        }
        return nil
    }

    private static func fromPurchase(
        _ value: BERReader, in bytes: [UInt8]
    ) throws(ReceiptDecodingError) -> String? {
        var value = value
        var attributes = try value.enter(BERReader.Tag.set, "a purchase: a set of attributes", in: bytes)
        while !attributes.isAtEnd {
            var attribute = try attributes.enter(BERReader.Tag.sequence, "an attribute", in: bytes)
            let type = try attribute.integer("an attribute's type", in: bytes)
            guard type == 1703 || type == 1705 else { continue }
            _ = try attribute.next(in: bytes)
            return switch try attribute.octetString("an attribute's value", in: bytes) {
            case .whole(let value): try text(value, in: bytes)
            case .pieces(let octets, let value): try text(value, in: octets)
            }
        }
        return nil
    }

    private static func text(_ value: BERReader, in bytes: [UInt8]) throws(ReceiptDecodingError) -> String {
        var value = value
        let element = try value.next(BERReader.Tag.utf8String, "a transaction id", in: bytes)
        return UntrustedText(decoding: bytes[element.content]).streamSafe
    }
}
