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
}

extension ECPublicKey: Equatable {
    /// Whether both are the same point.
    package static func == (first: ECPublicKey, second: ECPublicKey) -> Bool {
        first.rawRepresentation == second.rawRepresentation
    }
}
