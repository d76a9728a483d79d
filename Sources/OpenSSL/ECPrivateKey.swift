import COpenSSL

/// A private key on P-256, which makes ES256 signatures.
///
/// `@unchecked Sendable`: nothing changes after `init`, and libcrypto allows any number of threads to sign with one
/// `EVP_PKEY`. libcrypto wipes the private number when the key is released.
package final class ECPrivateKey: @unchecked Sendable {
    let key: OwnedPointer
    /// The public half.
    package let publicKey: ECPublicKey

    private init(_ pair: consuming P256.KeyPair) {
        publicKey = pair.publicKey
        key = pair.key
    }

    /// Loads a key from PKCS#8 PEM (`BEGIN PRIVATE KEY`), as in a `.p8` file.
    ///
    /// - Parameter text: The file's content.
    /// - Throws: ``PrivateKeyError`` naming what the text is instead.
    package convenience init(pkcs8PEM text: SecureBytes) throws(PrivateKeyError) {
        let content = try text.withUnsafeBytes { (text) throws(PrivateKeyError) in
            try PEMBlock(text).decodedBody()
        }
        let pair = try content.withUnsafeBytes { (der) throws(PrivateKeyError) in
            try P256.keyPair(of: PKCS8PrivateKey(der))
        }
        self.init(pair)
    }

    /// Loads a key from PKCS#8 PEM in an ordinary array: for tests and throw-away keys, since the array is not wiped.
    package convenience init(pkcs8PEM text: [UInt8]) throws(PrivateKeyError) {
        let copy: SecureBytes
        do throws(SecureBytesError) {
            copy = try SecureBytes(count: text.count) { $0.copyBytes(from: text) }
        } catch {
            throw .noMemory(error)
        }
        try self.init(pkcs8PEM: copy)
    }

    /// Makes a new key.
    ///
    /// - Throws: ``OpenSSLError`` if there is no entropy or no memory.
    package static func generate() throws(OpenSSLError) -> ECPrivateKey {
        let key = try OwnedPointer(
            copenssl_generate_ec_key(P256.groupName), release: EVP_PKEY_free, operation: "EVP_PKEY_Q_keygen")
        let publicKey = try ECPublicKey(point: P256.publicPoint(of: key))
        return ECPrivateKey(P256.KeyPair(key: key, publicKey: publicKey))
    }

    /// Writes the key as PKCS#8 PEM: for tools that make keys.
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails or has no memory.
    package func pkcs8PEM() throws(OpenSSLError) -> SecureBytes { try P256.pkcs8PEM(of: key) }

    // MARK: Signing

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
