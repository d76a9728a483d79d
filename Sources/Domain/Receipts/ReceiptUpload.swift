package import Foundation

/// What an app sends with a receipt.
///
/// The names are those of the receipts API that this one answers as.
package struct ReceiptUpload: Sendable, Equatable {
    /// The longest receipt, in bytes before Base64.
    package static let maximumReceiptBytes = 8 << 20
    /// The longest `metadata`, in bytes as it was sent.
    package static let maximumMetadataBytes = 16 << 10

    /// The receipt's bytes.
    package var receipt: [UInt8]
    /// ISO 3166-1 alpha-2.
    package var countryCode: String?
    package var identifierForVendor: UUID?
    package var user: UserID?
    /// IPv4 or IPv6; nil to keep none.
    package var ipAddress: String?
    /// A JSON object, byte for byte as it was sent.
    package var metadata: [UInt8]?

    package init(
        receipt: [UInt8], countryCode: String? = nil, identifierForVendor: UUID? = nil, user: UserID? = nil,
        ipAddress: String? = nil, metadata: [UInt8]? = nil
    ) {
        self.receipt = receipt
        self.countryCode = countryCode
        self.identifierForVendor = identifierForVendor
        self.user = user
        self.ipAddress = ipAddress
        self.metadata = metadata
    }

    /// Reads the fields of an upload; nil where one breaks a rule, which the reader has noted.
    ///
    /// - Parameters:
    ///   - fields: the body's.
    ///   - metadata: the value of the field `metadata` byte for byte; nil when it was not sent.
    ///   - address: where the request came from, which stands for an `ip_address` that was not sent.
    package init?(_ fields: inout FieldReader, metadata: [UInt8]?, requestAddress address: String?) {
        let bytes = Self.receipt(&fields)
        let country = fields.optionalText(
            "country_code", "an ISO 3166-1 alpha-2 country code, such as `DE`", rule: "iso3166"
        ) {
            CountryCode(text: $0)?.text
        }
        let vendor = fields.optionalText("identifier_for_vendor", "a UUID") { UUID(uuidString: $0) }
        let user = fields.optionalText(
            "user_identifier", "a text of 1 to \(UserID.maximumBytes) bytes of UTF-8", rule: "length"
        ) { text in try? UserID(text) }
        let ipAddress = Self.address(&fields, default: address)
        let kept = Self.metadata(&fields, metadata)
        guard fields.isValidSoFar, let bytes else { return nil }
        self.init(
            receipt: bytes, countryCode: country, identifierForVendor: vendor, user: user, ipAddress: ipAddress,
            metadata: kept)
    }

    /// The receipt's bytes; nil where the field breaks its rule, which the reader has noted.
    package static func receipt(_ fields: inout FieldReader) -> [UInt8]? {
        let limit = maximumReceiptBytes
        return fields.value("receipt", expected: "a receipt of at most \(limit) bytes in Base64 (RFC 4648 section 4)") {
            // Clients break the lines of Base64, as Apple's own example does.
            let text = $0.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            guard !text.isEmpty, text.count <= (limit + 2) / 3 * 4 else { return nil }
            return Data(base64Encoded: Data(text)).map(Array.init)
        }
    }

    /// The address to keep.
    ///
    /// Absent: that of the request. Null or the text `NULL`: none.
    private static func address(_ fields: inout FieldReader, default address: String?) -> String? {
        guard let sent = fields.peek("ip_address") else { return address }
        if sent == .null {
            _ = fields.takeAll(["ip_address"])
            return nil
        }
        let text = fields.string("ip_address", expected: "an IPv4 or IPv6 address, or null", rule: "ipAddress") {
            $0 == "NULL" || IPAddress.isValid($0)
        }
        return text == "NULL" ? nil : text
    }

    private static func metadata(_ fields: inout FieldReader, _ bytes: [UInt8]?) -> [UInt8]? {
        guard let value = fields.takeAll(["metadata"])["metadata"], value != .null else { return nil }
        guard case .object = value, let bytes else {
            fields.note("metadata", "type", "`metadata` must be an object, not \(value.typeName).")
            return nil
        }
        guard bytes.count <= maximumMetadataBytes else {
            fields.note(
                "metadata", "length",
                "`metadata` has \(bytes.count) bytes; at most \(maximumMetadataBytes) are kept.")
            return nil
        }
        return bytes
    }
}

extension FieldReader {
    /// A text that may be missing or null.
    fileprivate mutating func optionalText<Value>(
        _ name: String, _ expected: String, rule: String = "format", _ read: (String) -> Value?
    ) -> Value? {
        if peek(name) == .null {
            _ = takeAll([name])
            return nil
        }
        return value(name, isRequired: false, expected: expected, rule: rule, nil, read)
    }
}
