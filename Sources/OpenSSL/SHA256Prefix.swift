import COpenSSL

/// SHA-256 of messages that begin alike, of which the common beginning is digested once.
///
/// `@unchecked Sendable`: what it holds does not change after `init`; each digest works on a copy.
package final class SHA256Prefix: @unchecked Sendable {
    private let context: OwnedPointer

    /// Digests the beginning.
    ///
    /// - Parameter prefix: What all messages begin with.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package init(_ prefix: Span<UInt8>) throws(OpenSSLError) {
        let context = try OwnedPointer(EVP_MD_CTX_new(), release: EVP_MD_CTX_free, operation: "EVP_MD_CTX_new")
        try check(EVP_DigestInit_ex2(context.pointer, MessageDigest.sha256.pointer, nil), "EVP_DigestInit_ex2")
        try Self.update(context, prefix)
        self.context = context
    }

    /// Digests the beginning and what follows it.
    ///
    /// - Parameter rest: The message without its beginning.
    /// - Returns: The 32 bytes of the digest.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func digest(followedBy rest: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let copy = try OwnedPointer(EVP_MD_CTX_new(), release: EVP_MD_CTX_free, operation: "EVP_MD_CTX_new")
        try check(EVP_MD_CTX_copy_ex(copy.pointer, context.pointer), "EVP_MD_CTX_copy_ex")
        try Self.update(copy, rest)
        var digest = [UInt8](repeating: 0, count: SHA256Digest.count)
        try check(EVP_DigestFinal_ex(copy.pointer, &digest, nil), "EVP_DigestFinal_ex")
        return digest
    }

    private static func update(_ context: borrowing OwnedPointer, _ bytes: Span<UInt8>) throws(OpenSSLError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in
            try check(EVP_DigestUpdate(context.pointer, bytes.baseAddress, bytes.count), "EVP_DigestUpdate")
        }
    }
}
