import COpenSSL

/// A key that signs certificates or receipts, or that a TLS server proves itself with.
///
/// `@unchecked Sendable`: nothing changes after `init`, and libcrypto allows any number of threads to sign with one
/// `EVP_PKEY`.
package final class IssuingKey: @unchecked Sendable {
    /// The kinds in use for certificates: curves by NIST's name, and RSA, with which Apple signs receipts.
    package enum Kind: String, Sendable, Equatable {
        case p256 = "P-256"
        case p384 = "P-384"
        case rsa2048 = "RSA-2048"
    }

    /// What the key is made of.
    package let kind: Kind
    let key: OwnedPointer

    /// Makes a new key.
    ///
    /// - Throws: ``OpenSSLError`` if there is no entropy or no memory.
    package init(generating kind: Kind) throws(OpenSSLError) {
        let generated =
            switch kind {
            case .p256, .p384: copenssl_generate_ec_key(kind.rawValue)
            case .rsa2048: copenssl_generate_rsa_key(2048)
            }
        key = try OwnedPointer(generated, release: EVP_PKEY_free, operation: "EVP_PKEY_Q_keygen")
        self.kind = kind
    }

    /// Loads a key on a curve that was saved.
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
        guard let kind = KeyNames.curve(of: key).flatMap(Kind.init) else {
            throw OpenSSLError(draining: "EVP_PKEY_get_group_name")
        }
        self.key = key
        self.kind = kind
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

    /// The digest of the key's strength.
    var digest: OpaquePointer? {
        switch kind {
        case .p256, .rsa2048: EVP_sha256()
        case .p384: EVP_sha384()
        }
    }
}
