import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256Digest {
    /// Length of a digest in bytes.
    package static let count = 32

    /// Digests a message.
    ///
    /// - Parameter message: The bytes.
    /// - Returns: The 32 bytes of the digest.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package static func digest(_ message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let context = try OwnedPointer(EVP_MD_CTX_new(), release: EVP_MD_CTX_free, operation: "EVP_MD_CTX_new")
        var digest = [UInt8](repeating: 0, count: count)
        try check(EVP_DigestInit_ex2(context.pointer, MessageDigest.sha256.pointer, nil), "EVP_DigestInit_ex2")
        try message.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in
            try check(EVP_DigestUpdate(context.pointer, bytes.baseAddress, bytes.count), "EVP_DigestUpdate")
        }
        try check(EVP_DigestFinal_ex(context.pointer, &digest, nil), "EVP_DigestFinal_ex")
        return digest
    }

    /// Digests a message given as an array.
    package static func digest(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] { try digest(message.span) }

    /// Digests a message.
    ///
    /// - Parameter message: The bytes.
    /// - Returns: The digest as 64 lower-case hexadecimal digits.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package static func hexadecimalDigest(_ message: [UInt8]) throws(OpenSSLError) -> String {
        Hexadecimal.encode(try digest(message.span))
    }
}
