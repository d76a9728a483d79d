import COpenSSL

extension ECPublicKey {
    /// The SubjectPublicKeyInfo in DER (RFC 5480), 91 bytes.
    package var derRepresentation: [UInt8] { P256.subjectPublicKeyInfoPrefix + rawRepresentation }

    /// The SubjectPublicKeyInfo in PEM (`BEGIN PUBLIC KEY`).
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func pemRepresentation() throws(OpenSSLError) -> String {
        let bio = try MemoryBIO()
        try check(PEM_write_bio_PUBKEY(bio.pointer, key.pointer), "PEM_write_bio_PUBKEY")
        return bio.text
    }
}
