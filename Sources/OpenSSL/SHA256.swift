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

/// Compares secrets in a time that depends on their length alone.
///
/// - Returns: Whether both have the same length and content.
package func constantTimeEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
}

/// A digest algorithm of libcrypto, fetched once: looking it up by name for each message costs more than hashing a
/// short one.
///
/// `@unchecked Sendable`: a fetched `EVP_MD` never changes.
struct MessageDigest: @unchecked Sendable {
    /// Nil when the configured providers have no such algorithm; functions of libcrypto that are given nil fail and say
    /// so.
    let pointer: OpaquePointer?

    /// FIPS 180-4.
    static let sha256 = MessageDigest(pointer: EVP_MD_fetch(nil, "SHA2-256", nil))
}

/// Bytes as digits (RFC 4648, section 8), in lower case.
package enum Hexadecimal {
    /// Writes two lower-case digits per byte.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var index = 0
            for byte in bytes {
                buffer[index] = digits[Int(byte >> 4)]
                buffer[index + 1] = digits[Int(byte & 0x0F)]
                index += 2
            }
            return index
        }
    }
}
