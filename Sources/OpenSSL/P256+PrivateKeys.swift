import COpenSSL

extension P256 {
    /// A private key in libcrypto's form with its public half.
    struct KeyPair: ~Copyable {
        let key: OwnedPointer
        let publicKey: ECPublicKey
    }

    /// Makes libcrypto's form of a key that has been read from PKCS#8.
    ///
    /// - Throws: ``PrivateKeyError/publicKeyMismatch``, ``PrivateKeyError/noMemory(_:)`` or
    ///   ``PrivateKeyError/library(_:)``
    static func keyPair(of fields: PKCS8PrivateKey) throws(PrivateKeyError) -> KeyPair {
        let scalar: SecureBytes
        do throws(SecureBytesError) {
            // libcrypto wants the machine's own byte order here, which is little-endian wherever this is built.
            scalar = try SecureBytes(count: scalarCount) { output in
                for index in 0..<scalarCount { output[index] = fields.scalar[scalarCount - 1 - index] }
            }
        } catch {
            throw .noMemory(error)
        }
        let pair: KeyPair
        do throws(OpenSSLError) {
            let publicKey = try ECPublicKey(point: publicPoint(ofScalar: fields.scalar))
            let key = try scalar.withUnsafeBytes { (scalar) throws(OpenSSLError) in
                try makeKey(
                    publicPoint: publicKey.rawRepresentation,
                    privateScalar: UnsafeMutableRawBufferPointer(mutating: scalar))
            }
            pair = KeyPair(key: key, publicKey: publicKey)
        } catch {
            throw .library(error)
        }
        if let stated = fields.publicPoint, !isEncoding(stated, of: pair.publicKey.rawRepresentation) {
            throw .publicKeyMismatch
        }
        return pair
    }

    /// Writes a private key as PKCS#8 PEM.
    static func pkcs8PEM(of key: borrowing OwnedPointer) throws(OpenSSLError) -> SecureBytes {
        let bio = try MemoryBIO()
        try check(
            PEM_write_bio_PKCS8PrivateKey(bio.pointer, key.pointer, nil, nil, 0, nil, nil),
            "PEM_write_bio_PKCS8PrivateKey")
        return try bio.withContents { (text) throws(OpenSSLError) in
            guard let copy = try? SecureBytes(count: text.count, fill: { $0.copyMemory(from: text) }) else {
                throw OpenSSLError(draining: "mmap")
            }
            return copy
        }
    }

    /// Multiplies the base point.
    ///
    /// - Parameter scalar: 32 bytes, big-endian, in range.
    /// - Returns: x‖y.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    private static func publicPoint(ofScalar scalar: UnsafeRawBufferPointer) throws(OpenSSLError) -> [UInt8] {
        let group = try makeGroup()
        let number = try OwnedPointer(BN_secure_new(), release: BN_clear_free, operation: "BN_secure_new")
        let point = try OwnedPointer(EC_POINT_new(group.pointer), release: EC_POINT_free, operation: "EC_POINT_new")
        guard
            BN_bin2bn(scalar.baseAddress?.assumingMemoryBound(to: UInt8.self), CInt(scalar.count), number.pointer)
                != nil
        else { throw OpenSSLError(draining: "BN_bin2bn") }
        BN_set_flags(number.pointer, BN_FLG_CONSTTIME)
        try check(EC_POINT_mul(group.pointer, point.pointer, number.pointer, nil, nil, nil), "EC_POINT_mul")
        var octets = [UInt8](repeating: 0, count: 1 + 2 * scalarCount)
        let count = EC_POINT_point2oct(
            group.pointer, point.pointer, POINT_CONVERSION_UNCOMPRESSED, &octets, octets.count, nil)
        guard count == octets.count else { throw OpenSSLError(draining: "EC_POINT_point2oct") }
        return Array(octets.dropFirst())
    }

    /// Whether the octets encode the point, in full or compressed (SEC 1, section 2.3.3).
    private static func isEncoding(_ octets: UnsafeRawBufferPointer, of point: [UInt8]) -> Bool {
        guard let form = octets.first else { return false }
        if form == 0x04 { return octets.dropFirst().elementsEqual(point) }
        let parity = point[point.count - 1] & 1
        return form == 0x02 + parity && octets.dropFirst().elementsEqual(point.prefix(scalarCount))
    }
}
