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
}
