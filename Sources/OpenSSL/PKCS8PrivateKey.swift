/// The content of a PKCS#8 private key (RFC 5958) on P-256, as places in the memory it was read from.
///
/// Read here and not by libcrypto, whose decoder leaves copies of the private number on the heap. Valid only while that
/// memory is lent.
struct PKCS8PrivateKey {
    // The content of these object identifiers (RFC 5480, RFC 8017).
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let rsaFamily: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]

    /// The private number, 32 bytes, big-endian, in range.
    let scalar: UnsafeRawBufferPointer
    /// The public key that stands beside it, as the key's writer encoded the point.
    let publicPoint: UnsafeRawBufferPointer?

    /// Reads the key.
    ///
    /// - Parameter der: The whole structure, nothing after it.
    /// - Throws: ``PrivateKeyError``
    init(_ der: UnsafeRawBufferPointer) throws(PrivateKeyError) {
        let info: Info
        do throws(DERReader.Failure) {
            info = try Info(der)
        } catch {
            throw PrivateKeyError(error)
        }
        try Self.checkAlgorithm(info)
        do throws(DERReader.Failure) {
            (scalar, publicPoint) = try Self.readECPrivateKey(info.privateKey)
        } catch {
            throw PrivateKeyError(error)
        }
        guard scalar.count == P256.scalarCount else { throw .malformed }
        guard P256.isScalar(scalar) else { throw .invalidScalar }
    }

    /// The outer structure: `PrivateKeyInfo` or version 2 of it, `OneAsymmetricKey`.
    private struct Info {
        let algorithm: UnsafeRawBufferPointer
        /// What follows the algorithm's identifier; for a named curve, its identifier.
        let parameters: DERReader
        let privateKey: UnsafeRawBufferPointer

        init(_ der: UnsafeRawBufferPointer) throws(DERReader.Failure) {
            var outer = DERReader(der)
            var info = try outer.enter(.sequence)
            try outer.expectEnd()
            _ = try info.read(.integer)
            var identifier = try info.enter(.sequence)
            algorithm = try identifier.read(.objectIdentifier)
            parameters = identifier
            privateKey = try info.read(.octetString)
            // Attributes, and the public key of version 2, say nothing that the inner structure does not.
            _ = try info.readIfNext(.context0)
            _ = try info.readIfNext(.context1)
            try info.expectEnd()
        }
    }

    private static func checkAlgorithm(_ info: Info) throws(PrivateKeyError) {
        if info.algorithm.starts(with: rsaFamily) { throw .rsaKey }
        guard info.algorithm.elementsEqual(ecPublicKey) else {
            throw .otherAlgorithm(KeyNames.name(ofObjectIdentifier: info.algorithm) ?? "an unknown algorithm")
        }
        var parameters = info.parameters
        guard let curve = try? parameters.read(.objectIdentifier), parameters.isAtEnd else {
            throw .otherCurve("with explicit parameters")
        }
        guard curve.elementsEqual(p256) else {
            throw .otherCurve(KeyNames.name(ofObjectIdentifier: curve) ?? "with an unknown identifier")
        }
    }

    /// Reads `ECPrivateKey` (RFC 5915).
    private static func readECPrivateKey(
        _ der: UnsafeRawBufferPointer
    ) throws(DERReader.Failure) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) {
        var outer = DERReader(der)
        var key = try outer.enter(.sequence)
        try outer.expectEnd()
        _ = try key.read(.integer)
        let scalar = try key.read(.octetString)
        _ = try key.readIfNext(.context0)
        guard let wrapped = try key.readIfNext(.context1) else {
            try key.expectEnd()
            return (scalar, nil)
        }
        try key.expectEnd()
        var bits = DERReader(wrapped)
        let point = try bits.read(.bitString)
        // The first byte counts unused bits at the end, and a point has none.
        guard point.first == 0 else { throw .malformed }
        return (scalar, UnsafeRawBufferPointer(rebasing: point.dropFirst()))
    }
}

extension PrivateKeyError {
    fileprivate init(_ failure: DERReader.Failure) {
        self =
            switch failure {
            case .truncated: .truncated
            case .malformed: .malformed
            }
    }
}
