import COpenSSL

/// Message authentication codes with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// Computes the code of a message; compare it with ``constantTimeEqual(_:_:)``.
    ///
    /// - Parameters:
    ///   - message: The bytes to authenticate.
    ///   - key: The secret; RFC 2104 advises at least 32 bytes.
    /// - Returns: The 32 bytes of the code.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package static func authenticationCode(for message: [UInt8], key: SecureBytes) throws(OpenSSLError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256Digest.count)
        try key.withUnsafeBytes { (key) throws(OpenSSLError) in
            guard let keyCount = CInt(exactly: key.count),
                HMAC(MessageDigest.sha256.pointer, key.baseAddress, keyCount, message, message.count, &code, nil) != nil
            else { throw OpenSSLError(draining: "HMAC") }
        }
        return code
    }
}
