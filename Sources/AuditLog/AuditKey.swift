package import OpenSSL

/// The key that authenticates the records of one chain; it is in no database and in no backup of one.
package struct AuditKey: Sendable {
    /// Length of the key in bytes.
    package static let count = 32

    /// Names the chain that the key is of, and tells nothing of the key: 16 hexadecimal digits.
    package let chain: String
    private let bytes: SecureBytes

    /// Takes a key.
    ///
    /// - Throws: `OpenSSLError` only when libcrypto itself fails.
    package init(_ bytes: SecureBytes) throws(OpenSSLError) {
        self.bytes = bytes
        let code = try HMACSHA256.authenticationCode(for: Array("purser audit chain".utf8), key: bytes)
        chain = Hexadecimal.encode(code.prefix(8))
    }

    /// The authentication code (HMAC-SHA-256, RFC 2104) of a record, as 64 hexadecimal digits.
    ///
    /// - Throws: `OpenSSLError` only when libcrypto itself fails.
    func code(of body: some Collection<UInt8>, _ place: Place) throws(OpenSSLError) -> String {
        Hexadecimal.encode(
            try HMACSHA256.authenticationCode(for: Array(place.rawValue.utf8) + [0] + Array(body), key: bytes))
    }

    /// Where a record stands: one of the reserve is none of the log.
    enum Place: String {
        case log = "purser audit record"
        case reserve = "purser audit reserve"
    }
}
