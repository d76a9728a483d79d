import COpenSSL

/// AES-256-GCM: what is sealed can neither be read nor changed unnoticed without the key.
///
/// Under one key no nonce may come twice; the nonces here are random, which holds for 2³² messages a key.
/// Source: NIST SP 800-38D, section 8.3.
package enum AuthenticatedEncryption {
    /// Length of a key in bytes.
    package static let keyCount = 32
    /// Length of a nonce in bytes.
    package static let nonceCount = 12
    /// Length of an authentication tag in bytes.
    package static let tagCount = 16
    /// By how much what is sealed is longer than the content, in bytes.
    package static let overhead = nonceCount + tagCount
    /// The longest content, in bytes; everything that is sealed here is far shorter.
    package static let maximumCount = 1 << 20

    /// Draws a key.
    ///
    /// - Throws: ``AuthenticatedEncryptionError/library(_:)`` without entropy, ``AuthenticatedEncryptionError/noMemory(_:)``
    package static func makeKey() throws(AuthenticatedEncryptionError) -> SecureBytes {
        var isDrawn = false
        let key = try secret(count: keyCount) { bytes in
            isDrawn = RAND_priv_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), CInt(keyCount)) == 1
        }
        guard isDrawn else { throw .library(OpenSSLError(draining: "RAND_priv_bytes")) }
        return key
    }

    /// Seals a secret under a nonce of its own.
    ///
    /// - Parameters:
    ///   - content: The secret, at most ``maximumCount`` bytes.
    ///   - key: 32 bytes.
    ///   - associatedData: What the content belongs to; it is not kept, and must be the same when it is opened.
    /// - Returns: nonce‖ciphertext‖tag.
    /// - Throws: ``AuthenticatedEncryptionError``
    package static func seal(
        _ content: SecureBytes, key: SecureBytes, associatedData: [UInt8]
    ) throws(AuthenticatedEncryptionError) -> [UInt8] {
        let nonce: [UInt8]
        do throws(OpenSSLError) {
            nonce = try SecureRandom.bytes(nonceCount)
        } catch {
            throw .library(error)
        }
        return nonce + (try seal(content, key: key, nonce: nonce, associatedData: associatedData))
    }

    /// Seals a secret under a nonce that must never have been used with this key.
    ///
    /// - Returns: ciphertext‖tag.
    static func seal(
        _ content: SecureBytes, key: SecureBytes, nonce: [UInt8], associatedData: [UInt8]
    ) throws(AuthenticatedEncryptionError) -> [UInt8] {
        guard key.count == keyCount, nonce.count == nonceCount else { throw .malformedKey }
        guard content.count <= maximumCount, associatedData.count <= maximumCount else { throw .tooLarge }
        var sealed = [UInt8](repeating: 0, count: content.count + tagCount)
        do throws(OpenSSLError) {
            try content.withUnsafeBytes { (content) throws(OpenSSLError) in
                try sealed.withUnsafeMutableBufferPointer { (bytes) throws(OpenSSLError) in
                    let output = UnsafeMutableRawBufferPointer(bytes)
                    let context = try Cipher(.encrypting, key: key, nonce: nonce, associatedData: associatedData)
                    try context.update(content, into: output)
                    try context.finish()
                    try context.readTag(into: UnsafeMutableRawBufferPointer(rebasing: output[content.count...]))
                }
            }
        } catch {
            throw .library(error)
        }
        return sealed
    }

    /// Opens what ``seal(_:key:associatedData:)`` has sealed.
    ///
    /// - Parameters:
    ///   - sealed: nonce‖ciphertext‖tag.
    ///   - key: The key that it was sealed with.
    ///   - associatedData: What it was sealed with.
    /// - Returns: The secret; nothing of it is given out before all of it has been authenticated.
    /// - Throws: ``AuthenticatedEncryptionError/notAuthentic`` for another key, other associated data, or a changed byte.
    package static func open(
        _ sealed: [UInt8], key: SecureBytes, associatedData: [UInt8]
    ) throws(AuthenticatedEncryptionError) -> SecureBytes {
        guard key.count == keyCount else { throw .malformedKey }
        guard sealed.count >= overhead else { throw .truncated }
        guard sealed.count <= maximumCount + overhead, associatedData.count <= maximumCount else { throw .tooLarge }
        let nonce = Array(sealed.prefix(nonceCount))
        let tag = Array(sealed.suffix(tagCount))
        let count = sealed.count - overhead
        var outcome: Result<Bool, OpenSSLError> = .success(false)
        let content = try secret(count: count) { output in
            outcome = Result { () throws(OpenSSLError) in
                let context = try Cipher(.decrypting, key: key, nonce: nonce, associatedData: associatedData)
                try sealed.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in
                    let ciphertext = UnsafeRawBufferPointer(
                        rebasing: UnsafeRawBufferPointer(bytes)[nonceCount..<nonceCount + count])
                    try context.update(ciphertext, into: output)
                }
                return try context.verifies(tag)
            }
        }
        // What was not authenticated is wiped with `content`.
        switch outcome {
        case .success(true): return content
        case .success(false): throw .notAuthentic
        case .failure(let error): throw .library(error)
        }
    }

    private static func secret(
        count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(AuthenticatedEncryptionError) -> SecureBytes {
        do throws(SecureBytesError) {
            return try SecureBytes(count: count, fill: fill)
        } catch {
            throw .noMemory(error)
        }
    }
}

/// Why something could not be sealed or opened; it holds nothing of what was.
package enum AuthenticatedEncryptionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The key is not 32 bytes long.
    case malformedKey
    /// More than is ever sealed.
    case tooLarge
    /// Too short to have been sealed.
    case truncated
    /// The key or the associated data is another, or a byte was changed.
    case notAuthentic
    case noMemory(SecureBytesError)
    /// libcrypto failed for another reason than the data.
    case library(OpenSSLError)

    package var description: String {
        switch self {
        case .malformedKey: "the key is not 32 bytes long"
        case .tooLarge: "larger than \(AuthenticatedEncryption.maximumCount) bytes"
        case .truncated: "too short to have been sealed"
        case .notAuthentic: "sealed with another key, for another purpose, or changed since"
        case .noMemory(let error): "\(error)"
        case .library(let error): "\(error)"
        }
    }
}

/// One message on its way through libcrypto's AES-256-GCM; what it knows of the key is wiped when it is released.
private struct Cipher: ~Copyable {
    enum Direction {
        case encrypting, decrypting
    }

    private let context: OwnedPointer
    private let direction: Direction

    init(
        _ direction: Direction, key: SecureBytes, nonce: [UInt8], associatedData: [UInt8]
    ) throws(OpenSSLError) {
        let context = try OwnedPointer(
            EVP_CIPHER_CTX_new(), release: EVP_CIPHER_CTX_free, operation: "EVP_CIPHER_CTX_new")
        try key.withUnsafeBytes { (key) throws(OpenSSLError) in
            let start = key.baseAddress?.assumingMemoryBound(to: UInt8.self)
            try check(
                EVP_CipherInit_ex2(
                    context.pointer, EVP_aes_256_gcm(), start, nonce, direction == .encrypting ? 1 : 0, nil),
                "EVP_CipherInit_ex2")
        }
        if !associatedData.isEmpty {
            var count: CInt = 0
            try check(
                EVP_CipherUpdate(context.pointer, nil, &count, associatedData, CInt(associatedData.count)),
                "EVP_CipherUpdate")
        }
        self.context = context
        self.direction = direction
    }

    /// Turns all of the input into as many bytes of output.
    func update(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) {
        // With no bytes at all it would be told of associated data that is not there.
        guard let start = input.baseAddress, !input.isEmpty else { return }
        var count: CInt = 0
        try check(
            EVP_CipherUpdate(
                context.pointer, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
                start.assumingMemoryBound(to: UInt8.self), CInt(input.count)),
            "EVP_CipherUpdate")
        guard Int(count) == input.count else { throw OpenSSLError(draining: "EVP_CipherUpdate") }
    }

    /// Ends an encryption.
    func finish() throws(OpenSSLError) {
        var nothing = [UInt8](repeating: 0, count: AuthenticatedEncryption.tagCount)
        var count: CInt = 0
        try check(EVP_CipherFinal_ex(context.pointer, &nothing, &count), "EVP_CipherFinal_ex")
    }

    func readTag(into output: UnsafeMutableRawBufferPointer) throws(OpenSSLError) {
        try check(
            EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, CInt(output.count), output.baseAddress),
            "EVP_CIPHER_CTX_ctrl")
    }

    /// Ends a decryption: whether all that went through is what was sealed.
    func verifies(_ tag: [UInt8]) throws(OpenSSLError) -> Bool {
        var tag = tag
        try check(
            EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, CInt(tag.count), &tag), "EVP_CIPHER_CTX_ctrl")
        var nothing = [UInt8](repeating: 0, count: AuthenticatedEncryption.tagCount)
        var count: CInt = 0
        guard EVP_CipherFinal_ex(context.pointer, &nothing, &count) == 1 else {
            OpenSSLError.clearQueue()
            return false
        }
        return true
    }
}
