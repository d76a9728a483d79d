import COpenSSL
import Synchronization

/// A public key on P-256, which checks ES256 signatures.
///
/// `@unchecked Sendable`: nothing that libcrypto has changes after `init`, and it allows any number of threads to verify
/// with one `EVP_PKEY`; `multiples` has a lock of its own.
package final class ECPublicKey: @unchecked Sendable {
    /// The point as x‖y, 64 bytes.
    package let rawRepresentation: [UInt8]
    let key: OwnedPointer
    /// Ready to verify; each check works on a copy, which is cheaper than another start.
    let verification: OwnedPointer
    /// The table of a key that checks very many signatures.
    let multiples = Mutex<PrecomputedMultiples?>(nil)

    /// Takes a bare point.
    ///
    /// - Parameter rawRepresentation: x‖y, 64 bytes.
    /// - Throws: ``PublicKeyError``
    package convenience init(rawRepresentation: [UInt8]) throws(PublicKeyError) {
        guard rawRepresentation.count == 2 * P256.scalarCount else { throw .malformed }
        do throws(OpenSSLError) {
            try self.init(point: rawRepresentation)
        } catch {
            throw .invalidPoint
        }
    }

    /// Takes a SubjectPublicKeyInfo (RFC 5480).
    ///
    /// - Parameter derRepresentation: The DER, nothing after it.
    /// - Throws: ``PublicKeyError``
    package convenience init(derRepresentation: [UInt8]) throws(PublicKeyError) {
        var consumedCount = 0
        let decoded = derRepresentation.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            defer { consumedCount = position.map { $0 - (bytes.baseAddress ?? $0) } ?? 0 }
            return d2i_PUBKEY(nil, &position, bytes.count)
        }
        let point = try Self.point(ofDecoded: decoded)
        guard consumedCount == derRepresentation.count else { throw .malformed }
        try self.init(rawRepresentation: point)
    }

    /// Takes a SubjectPublicKeyInfo in PEM (`BEGIN PUBLIC KEY`).
    ///
    /// - Parameter pemRepresentation: The text; what stands around the block is ignored.
    /// - Throws: ``PublicKeyError``
    package convenience init(pemRepresentation: String) throws(PublicKeyError) {
        let decoded = Array(pemRepresentation.utf8).withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard let bio = try? MemoryBIO(reading: bytes) else { return nil }
            return PEM_read_bio_PUBKEY(bio.pointer, nil, MemoryBIO.noPassphrase, nil)
        }
        try self.init(rawRepresentation: Self.point(ofDecoded: decoded))
    }

    /// Makes the key of a point, which libcrypto checks to be on the curve.
    init(point: [UInt8]) throws(OpenSSLError) {
        let key = try P256.makeKey(publicPoint: point)
        let verification = try OwnedPointer(
            EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), release: EVP_PKEY_CTX_free,
            operation: "EVP_PKEY_CTX_new_from_pkey")
        try check(EVP_PKEY_verify_init(verification.pointer), "EVP_PKEY_verify_init")
        self.key = key
        self.verification = verification
        rawRepresentation = point
    }

    /// Takes over what libcrypto decoded and reads the point out of it, if it is on P-256.
    static func point(ofDecoded decoded: OpaquePointer?) throws(PublicKeyError) -> [UInt8] {
        let key: OwnedPointer
        do throws(OpenSSLError) {
            key = try OwnedPointer(decoded, release: EVP_PKEY_free, operation: "d2i_PUBKEY")
        } catch {
            throw .malformed
        }
        guard EVP_PKEY_is_a(key.pointer, "EC") == 1 else { throw .otherAlgorithm(KeyNames.algorithm(of: key)) }
        let curve = KeyNames.curve(of: key) ?? "with explicit parameters"
        guard curve == "P-256" else { throw .otherCurve(curve) }
        do throws(OpenSSLError) {
            return try P256.publicPoint(of: key)
        } catch {
            throw .invalidPoint
        }
    }

    // MARK: Encoding

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

    // MARK: Verification

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

    // MARK: Precomputation

    /// Works out a table that makes each later check of a signature a third as long.
    ///
    /// Takes tens of milliseconds and 155 KiB for as long as the key lives, so it is for the few keys that check hundreds
    /// of signatures, and not to be done while somebody waits.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails; the key verifies as before then.
    package func precomputeMultiples() throws(OpenSSLError) {
        let table = try PrecomputedMultiples(of: rawRepresentation)
        multiples.withLock { $0 = table }
    }

    /// Whether checks go by a table.
    package var hasPrecomputedMultiples: Bool { table != nil }

    /// The table, if there is one.
    var table: PrecomputedMultiples? { multiples.withLock(\.self) }
}

extension ECPublicKey: Equatable {
    /// Whether both are the same point.
    package static func == (first: ECPublicKey, second: ECPublicKey) -> Bool {
        first.rawRepresentation == second.rawRepresentation
    }
}
