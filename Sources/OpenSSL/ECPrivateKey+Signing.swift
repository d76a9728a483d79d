import COpenSSL

extension ECPrivateKey {
    /// Signs with ES256 (RFC 7518, section 3.4).
    ///
    /// - Parameter message: What to sign; it is digested here with SHA-256.
    /// - Returns: r‖s, 64 bytes.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func signature(for message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let der = try derSignature(for: message)
        guard let raw = der.withUnsafeBytes({ try? ECDSASignature.raw($0) }) else {
            throw OpenSSLError(draining: "EVP_DigestSign")
        }
        return raw
    }

    /// Signs a message given as an array, with ES256.
    package func signature(for message: [UInt8]) throws(OpenSSLError) -> [UInt8] { try signature(for: message.span) }

    /// Signs with ECDSA over SHA-256.
    ///
    /// - Parameter message: What to sign; it is digested here.
    /// - Returns: The signature in DER (RFC 3279, section 2.2.3), at most 72 bytes.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func derSignature(for message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let context = try OwnedPointer(EVP_MD_CTX_new(), release: EVP_MD_CTX_free, operation: "EVP_MD_CTX_new")
        try check(
            EVP_DigestSignInit(context.pointer, nil, MessageDigest.sha256.pointer, nil, key.pointer),
            "EVP_DigestSignInit")
        var signature = [UInt8](repeating: 0, count: ECDSASignature.maximumDERCount)
        var count = signature.count
        try message.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in
            try check(
                EVP_DigestSign(context.pointer, &signature, &count, bytes.baseAddress, bytes.count), "EVP_DigestSign")
        }
        signature.removeLast(signature.count - count)
        return signature
    }

    /// Signs a message given as an array, with ECDSA over SHA-256, in DER.
    package func derSignature(for message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try derSignature(for: message.span)
    }
}
