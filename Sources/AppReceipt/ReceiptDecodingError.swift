/// Why bytes are not a receipt, and where they stop being one.
package struct ReceiptDecodingError: Error, Sendable, Equatable {
    /// What is wrong.
    package enum Reason: Sendable, Equatable {
        /// No bytes at all.
        case empty
        /// Neither an app receipt nor a transaction receipt by its beginning.
        case unknownFormat
        /// More bytes than ``ReceiptLimits/bytes``; the associated value is that limit.
        case tooLarge(limit: Int)
        /// Deeper than ``ReceiptLimits/depth``.
        case tooDeep(limit: Int)
        /// More purchases than ``ReceiptLimits/purchases``.
        case tooManyPurchases(limit: Int)
        /// More attributes than ``ReceiptLimits/attributes``, or members than ``ReceiptLimits/members``.
        case tooManyAttributes(limit: Int)
        /// More bytes around the content, which are certificates and signers, than ``ReceiptLimits/certificateBytes``.
        case tooManyCertificates(limit: Int)
        /// It ends in the midst of something.
        case truncated
        /// Something else than the format wants; the associated value says what is wanted.
        case malformed(expected: String)
        /// An attribute that every receipt has is not there; the associated value is its number.
        case missingAttribute(Int64)
        /// libcrypto cannot read the container; the associated value is its text.
        case container(String)
    }

    package let reason: Reason
    /// The position in the container or, where ``attributes`` are named, in what the innermost of them holds, in bytes.
    package let offset: Int?
    /// The numbers of the attributes that the fault lies in, outermost first.
    package private(set) var attributes: [Int64] = []
    /// The purchase that the fault lies in, counted from 0.
    package private(set) var purchase: Int?

    init(_ reason: Reason, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }

    /// The same fault, said to lie in an attribute.
    func within(attribute: Int64, purchase: Int? = nil) -> ReceiptDecodingError {
        var error = self
        error.attributes.insert(attribute, at: 0)
        error.purchase = purchase ?? error.purchase
        return error
    }
}

extension ReceiptDecodingError: CustomStringConvertible {
    /// What is wrong and where, in a phrase that can follow "the receipt is undecodable:".
    package var description: String {
        var place = purchase.map { ", purchase \($0)" } ?? ""
        if !attributes.isEmpty { place += ", attribute " + attributes.map(String.init).joined(separator: " / ") }
        if let offset { place += ", byte \(offset)" }
        return reason.description + place
    }
}

extension ReceiptDecodingError.Reason: CustomStringConvertible {
    /// What is wrong, in a phrase.
    package var description: String {
        switch self {
        case .empty: "it is empty"
        case .unknownFormat: "it is neither a PKCS #7 container nor a property list"
        case .tooLarge(let limit): "it is larger than \(limit) bytes"
        case .tooDeep(let limit): "it is nested deeper than \(limit) levels"
        case .tooManyPurchases(let limit): "it holds more than \(limit) purchases"
        case .tooManyAttributes(let limit): "it holds more than \(limit) attributes"
        case .tooManyCertificates(let limit): "its certificates and signers take more than \(limit) bytes"
        case .truncated: "it ends too early"
        case .malformed(let expected): "expected \(expected)"
        case .missingAttribute(let number): "attribute \(number) is missing"
        case .container(let text): text
        }
    }
}

/// What a receipt may cost.
///
/// It comes from strangers, so that every measure has a bound; time is linear in the bytes.
package struct ReceiptLimits: Sendable, Equatable {
    /// Bytes of the receipt, without Base64: about 20,000 purchases of an app receipt.
    package var bytes = 8 << 20
    /// Bytes of the container besides its content: three certificates and one signer take about 4 KiB.
    package var certificateBytes = 64 << 10
    /// Levels of BER within each other.
    package var depth = 16
    /// Purchases; receipts with tens of thousands of them exist.
    package var purchases = 50_000
    /// Attributes, those of purchases included.
    package var attributes = 500_000
    /// Members of each of the two lists of a transaction receipt, which has some twenty.
    package var members = 1000

    /// The bounds that serve real receipts.
    package init() {}
}
