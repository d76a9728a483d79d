package import Foundation
import JSON

/// The receipt of a single transaction, which StoreKit gave out before app receipts: a property list whose member
/// `purchase-info` is another one, in Base64.
///
/// It cannot be verified: the certificate of its signer has long expired. Only Apple's own answer proves what it says.
package struct LegacyTransactionReceipt: Sendable, Equatable {
    /// Every member of the outer list, such as `environment`, `pod` and `signing-status`.
    package let members: [String: String]
    /// Every member of the inner list.
    package let purchaseInfo: [String: String]

    /// Reads a receipt.
    ///
    /// - Parameters:
    ///   - bytes: The text, without the Base64 in which apps send it.
    ///   - limits: What it may cost.
    /// - Throws: ``ReceiptDecodingError``
    package init(_ bytes: [UInt8], _ limits: ReceiptLimits = ReceiptLimits()) throws(ReceiptDecodingError) {
        (members, purchaseInfo) = try Self.lists(of: bytes, limits)
        bundleID = try Self.require("bid", in: purchaseInfo)
        transactionID = try Self.require("transaction-id", in: purchaseInfo)
    }

    /// The members of the outer and of the inner list, whatever they are.
    static func lists(
        of bytes: [UInt8], _ limits: ReceiptLimits
    ) throws(ReceiptDecodingError) -> (outer: [String: String], inner: [String: String]) {
        guard !bytes.isEmpty else { throw ReceiptDecodingError(.empty) }
        guard bytes.count <= limits.bytes else { throw ReceiptDecodingError(.tooLarge(limit: limits.bytes)) }
        let outer = try OldStylePropertyList.members(of: bytes, atMost: limits.members)
        guard let encoded = outer["purchase-info"] else {
            throw ReceiptDecodingError(.malformed(expected: "a member purchase-info"))
        }
        guard let inner = Data(base64Encoded: encoded, options: .ignoreUnknownCharacters) else {
            throw ReceiptDecodingError(.malformed(expected: "Base64 in purchase-info"))
        }
        return (outer, try OldStylePropertyList.members(of: Array(inner), atMost: limits.members))
    }

    private static func require(_ name: String, in members: [String: String]) throws(ReceiptDecodingError) -> String {
        guard let value = members[name], !value.isEmpty else {
            throw ReceiptDecodingError(.malformed(expected: "a member \(name) in purchase-info"))
        }
        return value
    }

    /// The transaction.
    package let transactionID: String
    /// The purchase that it renews or restores.
    package var originalTransactionID: String? { purchaseInfo["original-transaction-id"] }
    /// The product.
    package var productID: String? { purchaseInfo["product-id"] }
    /// The app's bundle id.
    package let bundleID: String
    /// The app's version.
    package var applicationVersion: String? { purchaseInfo["bvrs"] }
    /// How many were bought.
    package var quantity: Int? { purchaseInfo["quantity"].flatMap(Int.init) }
    /// The subscription period.
    package var webOrderLineItemID: Int64? { purchaseInfo["web-order-line-item-id"].flatMap(Int64.init) }
    /// Whether an introductory offer was in force.
    package var isInIntroductoryOfferPeriod: Bool? {
        switch purchaseInfo["is-in-intro-offer-period"]?.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
    /// When it was bought.
    package var purchaseDate: Date? { date("purchase-date-ms") }
    /// When it was first bought.
    package var originalPurchaseDate: Date? { date("original-purchase-date-ms") }
    /// When the subscription period ends, in milliseconds under its plain name.
    package var expirationDate: Date? { date("expires-date") }
    /// When Apple took it back.
    package var cancellationDate: Date? { date("cancellation-date-ms") }

    /// Where it says it was issued; production leaves it out.
    package var environment: ReceiptEnvironment? {
        (members["environment"] ?? purchaseInfo["environment"]).map(ReceiptEnvironment.init(name:))
    }

    /// A time in UNIX milliseconds, before the year 10000.
    private func date(_ name: String) -> Date? {
        guard let milliseconds = purchaseInfo[name].flatMap(Int64.init),
            (0...253_402_300_799_999).contains(milliseconds)
        else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(milliseconds) / 1000)
    }
}

/// Property lists of the style of NeXTSTEP, as far as receipts use it: one dictionary of texts.
///
/// Source: "Old-Style ASCII Property Lists" in Apple's Property List Programming Guide
enum OldStylePropertyList {
    /// Reads a dictionary whose values are texts; of a key that is there twice, the last one counts.
    static func members(of bytes: [UInt8], atMost limit: Int) throws(ReceiptDecodingError) -> [String: String] {
        var scanner = Scanner(bytes: bytes)
        var members: [String: String] = [:]
        try scanner.expect("{")
        while !scanner.takes("}") {
            guard members.count < limit else {
                throw ReceiptDecodingError(.tooManyAttributes(limit: limit), at: scanner.position)
            }
            let key = try scanner.text("a key")
            try scanner.expect("=")
            members[key] = try scanner.text("a text")
            // The last one may lack it.
            if !scanner.takes(";") {
                try scanner.expect("}")
                break
            }
        }
        try scanner.expectEnd()
        return members
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        private mutating func skipWhiteSpace() {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        }

        mutating func takes(_ character: Unicode.Scalar) -> Bool {
            skipWhiteSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func expect(_ character: Unicode.Scalar) throws(ReceiptDecodingError) {
            guard takes(character) else { throw unexpected("\(character)") }
        }

        /// Files are often written with a zero at their end.
        mutating func expectEnd() throws(ReceiptDecodingError) {
            skipWhiteSpace()
            guard bytes[position...].allSatisfy({ $0 == 0 }) else { throw unexpected("the end") }
        }

        private func unexpected(_ expected: String) -> ReceiptDecodingError {
            position < bytes.count
                ? ReceiptDecodingError(.malformed(expected: expected), at: position)
                : ReceiptDecodingError(.truncated, at: position)
        }

        /// Takes a text, in quotes or a bare word.
        mutating func text(_ name: String) throws(ReceiptDecodingError) -> String {
            if takes("\"") { return try quoted() }
            let start = position
            while position < bytes.count, Self.isWordCharacter(bytes[position]) { position += 1 }
            guard position > start else { throw unexpected(name) }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private static func isWordCharacter(_ byte: UInt8) -> Bool {
            switch Unicode.Scalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "$", "/", ":", ".", "-": true
            default: false
            }
        }

        /// Takes the rest of a text in quotes.
        private mutating func quoted() throws(ReceiptDecodingError) -> String {
            var content: [UInt8] = []
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let text = UntrustedText(validating: content) else {
                        throw ReceiptDecodingError(.malformed(expected: "UTF-8"), at: position)
                    }
                    return text.streamSafe
                case UInt8(ascii: "\\"): content += try escaped()
                default: content.append(byte)
                }
            }
            throw ReceiptDecodingError(.truncated, at: position)
        }

        /// Takes what follows a backslash.
        private mutating func escaped() throws(ReceiptDecodingError) -> [UInt8] {
            guard position < bytes.count else { throw ReceiptDecodingError(.truncated, at: position) }
            let escape = Unicode.Scalar(bytes[position])
            position += 1
            switch escape {
            case "n": return [0x0A]
            case "r": return [0x0D]
            case "t": return [0x09]
            case "0"..."7": return try character(digits: 3, radix: 8, from: position - 1)
            case "U", "u": return try character(digits: 4, radix: 16, from: position)
            default: return [UInt8(truncatingIfNeeded: escape.value)]
            }
        }

        /// Takes a character that is written as a number.
        private mutating func character(
            digits count: Int, radix: Int, from start: Int
        ) throws(ReceiptDecodingError) -> [UInt8] {
            guard start + count <= bytes.count,
                let number = UInt32(String(decoding: bytes[start..<(start + count)], as: UTF8.self), radix: radix),
                let scalar = Unicode.Scalar(number)
            else { throw unexpected("\(count) digits of a character") }
            position = start + count
            return Array(String(Character(scalar)).utf8)
        }
    }
}
