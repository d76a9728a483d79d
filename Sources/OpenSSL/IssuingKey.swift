import COpenSSL

/// A key that signs certificates, or that a TLS server proves itself with.
///
/// `@unchecked Sendable`: nothing changes after `init`, and libcrypto allows any number of threads to sign with one
/// `EVP_PKEY`.
package final class IssuingKey: @unchecked Sendable {
    /// The curves in use for certificates, by NIST's name.
    package enum Curve: String, Sendable, Equatable {
        case p256 = "P-256"
        case p384 = "P-384"
    }

    /// The curve of the key.
    package let curve: Curve
    let key: OwnedPointer

    /// Makes a new key.
    ///
    /// - Throws: ``OpenSSLError`` if there is no entropy or no memory.
    package init(generating curve: Curve) throws(OpenSSLError) {
        key = try OwnedPointer(
            copenssl_generate_ec_key(curve.rawValue), release: EVP_PKEY_free, operation: "EVP_PKEY_Q_keygen")
        self.curve = curve
    }

    /// Loads a key that was saved.
    ///
    /// - Parameter pkcs8PEM: What ``pkcs8PEM()`` wrote.
    /// - Throws: ``OpenSSLError`` if it is anything else.
    package init(pkcs8PEM: SecureBytes) throws(OpenSSLError) {
        let key = try pkcs8PEM.withUnsafeBytes { (text) throws(OpenSSLError) in
            let bio = try MemoryBIO(reading: text.assumingMemoryBound(to: UInt8.self))
            return try OwnedPointer(
                PEM_read_bio_PrivateKey(bio.pointer, nil, MemoryBIO.noPassphrase, nil), release: EVP_PKEY_free,
                operation: "PEM_read_bio_PrivateKey")
        }
        guard let curve = KeyNames.curve(of: key).flatMap(Curve.init) else {
            throw OpenSSLError(draining: "EVP_PKEY_get_group_name")
        }
        self.key = key
        self.curve = curve
    }

    /// Writes the key as PKCS#8 PEM (`BEGIN PRIVATE KEY`).
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails or has no memory.
    package func pkcs8PEM() throws(OpenSSLError) -> SecureBytes { try P256.pkcs8PEM(of: key) }

    /// The public half as a SubjectPublicKeyInfo in DER (RFC 5480).
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func subjectPublicKeyInfo() throws(OpenSSLError) -> [UInt8] {
        let bio = try MemoryBIO()
        try check(i2d_PUBKEY_bio(bio.pointer, key.pointer), "i2d_PUBKEY_bio")
        return bio.withContents { Array($0) }
    }

    /// The digest of the same strength as the curve.
    var digest: OpaquePointer? {
        switch curve {
        case .p256: EVP_sha256()
        case .p384: EVP_sha384()
        }
    }
}
