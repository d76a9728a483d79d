import COpenSSL

extension ECPublicKey {
    /// Checks an ES256 signature (RFC 7518, section 3.4).
    ///
    /// - Parameters:
    ///   - signature: r‖s. Any other length than 64 bytes, and r or s outside 1..<n, make it invalid.
    ///   - message: What was signed; it is digested here with SHA-256.
    /// - Returns: Whether this key's owner signed the message.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails, never for what the bytes hold.
    package func isValidSignature(
        _ signature: Span<UInt8>, for message: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        try isValidSignature(signature, forDigest: SHA256Digest.digest(message))
    }

    /// Checks an ES256 signature given in arrays.
    package func isValidSignature(_ signature: [UInt8], for message: [UInt8]) throws(OpenSSLError) -> Bool {
        try isValidSignature(signature.span, for: message.span)
    }

    /// Checks an ES256 signature of a message that has been digested already.
    ///
    /// - Parameters:
    ///   - signature: r‖s, as in the other form.
    ///   - digest: SHA-256 of the message, 32 bytes; any other length makes the signature invalid.
    /// - Returns: Whether this key's owner signed the message.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails, never for what the bytes hold.
    package func isValidSignature(
        _ signature: Span<UInt8>, forDigest digest: [UInt8]
    ) throws(OpenSSLError) -> Bool {
        try signature.withUnsafeBufferPointer { (signature) throws(OpenSSLError) in
            let raw = UnsafeRawBufferPointer(signature)
            guard raw.count == ECDSASignature.rawCount, digest.count == SHA256Digest.count,
                P256.isScalar(UnsafeRawBufferPointer(rebasing: raw[..<P256.scalarCount])),
                P256.isScalar(UnsafeRawBufferPointer(rebasing: raw[P256.scalarCount...]))
            else { return false }
            // A table that fails has not decided anything; libcrypto's own verification does.
            if let table, let isValid = try? table.isValid(signature, forDigest: digest) { return isValid }
            return try isValidSignature(ECDSASignature.der(raw), forDigest: digest)
        }
    }

    /// Checks a signature with libcrypto's own verification.
    ///
    /// - Parameters:
    ///   - signature: In DER, r and s in range.
    ///   - digest: SHA-256 of the message.
    /// - Returns: Whether it is the key owner's.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    private func isValidSignature(_ signature: [UInt8], forDigest digest: [UInt8]) throws(OpenSSLError) -> Bool {
        let context = try OwnedPointer(
            EVP_PKEY_CTX_dup(verification.pointer), release: EVP_PKEY_CTX_free, operation: "EVP_PKEY_CTX_dup")
        let result = EVP_PKEY_verify(context.pointer, signature, signature.count, digest, digest.count)
        if result == 1 { return true }
        let error = OpenSSLError(draining: "EVP_PKEY_verify")
        // A forger who chooses the key can make the sum of points come out at infinity, which libcrypto reports as an
        // error.
        if result == 0 || error.isAbout(EC_R_POINT_AT_INFINITY, library: ERR_LIB_EC) { return false }
        throw error
    }
}
