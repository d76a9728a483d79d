import Foundation
package import OpenSSL

/// The key under which every sealed secret of an installation is kept, and that no database and no backup holds.
///
/// It wraps data keys and nothing else: it never touches a secret itself.
package final class MasterKey: Sendable {
    /// What tells it from others, and nothing of what it is: 16 hexadecimal digits.
    package let id: String
    /// The same as it stands in what is sealed.
    let identifier: [UInt8]
    let bytes: SecureBytes

    /// Length of the identifier in bytes.
    static let identifierCount = 8

    /// Takes a key.
    ///
    /// - Parameter bytes: 32 bytes.
    /// - Throws: `MasterKeyError`
    package init(_ bytes: SecureBytes) throws(MasterKeyError) {
        guard bytes.count == AuthenticatedEncryption.keyCount else { throw .malformed }
        do throws(OpenSSLError) {
            let code = try HMACSHA256.authenticationCode(for: Array("purser master key identifier".utf8), key: bytes)
            identifier = Array(code.prefix(Self.identifierCount))
        } catch {
            throw .library("\(error)")
        }
        id = Hexadecimal.encode(identifier)
        self.bytes = bytes
    }

    /// Reads a key as it is written in a file: 64 hexadecimal digits, and a line feed if it likes.
    ///
    /// - Throws: `MasterKeyError`
    package convenience init(text: SecureBytes) throws(MasterKeyError) {
        var isMalformed = false
        let bytes = try Self.secret { output in
            isMalformed = !text.withUnsafeBytes { Self.decode($0, into: output) }
        }
        guard !isMalformed else { throw .malformed }
        try self.init(bytes)
    }

    /// Draws a key.
    ///
    /// - Throws: `MasterKeyError` without entropy or memory.
    package convenience init() throws(MasterKeyError) {
        let bytes: SecureBytes
        do throws(AuthenticatedEncryptionError) {
            bytes = try AuthenticatedEncryption.makeKey()
        } catch {
            throw .library("\(error)")
        }
        try self.init(bytes)
    }

    /// The key as ``init(text:)`` reads it.
    func text() throws(MasterKeyError) -> SecureBytes {
        try Self.secret(count: 2 * bytes.count + 1) { output in
            bytes.withUnsafeBytes { bytes in
                for (index, byte) in bytes.enumerated() {
                    output[2 * index] = Self.digits[Int(byte >> 4)]
                    output[2 * index + 1] = Self.digits[Int(byte & 0xF)]
                }
            }
            output[2 * bytes.count] = UInt8(ascii: "\n")
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func decode(_ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        let hasLineFeed = text.last == UInt8(ascii: "\n")
        guard text.count - (hasLineFeed ? 1 : 0) == 2 * output.count else { return false }
        for index in 0..<output.count {
            guard let high = digit(text[2 * index]), let low = digit(text[2 * index + 1]) else { return false }
            output[index] = high << 4 | low
        }
        return true
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func secret(
        count: Int = AuthenticatedEncryption.keyCount, fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(MasterKeyError) -> SecureBytes {
        do throws(SecureBytesError) {
            return try SecureBytes(count: count, fill: fill)
        } catch {
            throw .library("\(error)")
        }
    }
}

/// Why there is no master key.
package enum MasterKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is not 32 bytes, or not written as 64 hexadecimal digits.
    case malformed
    /// No entropy, no memory, or libcrypto failed.
    case library(String)

    package var description: String {
        switch self {
        case .malformed: "not a master key: 64 hexadecimal digits, as `openssl rand -hex 32` prints them"
        case .library(let text): text
        }
    }
}

/// The file that a master key comes from.
package enum MasterKeyFile {
    /// The largest file read, in bytes; a key takes 65.
    static let maximumBytes = 256

    /// Reads a key that somebody else keeps: a systemd credential, or a file that the operator names.
    ///
    /// - Throws: `SecretFileError`
    package static func load(_ path: String, allowsGroupRead: Bool) throws(SecretFileError) -> MasterKey {
        let text = try SecretFile.read(path, allowsGroupRead: allowsGroupRead, maximumBytes: maximumBytes)
        do throws(MasterKeyError) {
            return try MasterKey(text: text)
        } catch {
            throw SecretFileError(path: path, problem: "\(error)")
        }
    }

    /// Reads the key that an installation has made for itself, or makes it.
    ///
    /// A file is there whole or not at all, whenever the power fails, and none that is there is ever replaced.
    ///
    /// - Parameter path: beside the store, where backups leave it out.
    /// - Returns: the key, and whether it was made just now.
    /// - Throws: `SecretFileError`
    package static func loadOrMake(_ path: String) throws(SecretFileError) -> (key: MasterKey, isNew: Bool) {
        if access(path, F_OK) == 0 { return (try load(path, allowsGroupRead: false), false) }
        let key: MasterKey
        let text: SecureBytes
        do throws(MasterKeyError) {
            key = try MasterKey()
            text = try key.text()
        } catch {
            throw SecretFileError(path: path, problem: "\(error)")
        }
        let draft = "\(path).new-\(UUID().uuidString)"
        try SecretFile.create(text, at: draft)
        defer { SecretFile.remove(draft) }
        guard link(draft, path) == 0 else {
            let code = errno
            // Somebody else was quicker: that key is the installation's.
            if code == EEXIST { return (try load(path, allowsGroupRead: false), false) }
            throw SecretFileError(path: path, problem: "cannot be made: \(SecretFile.systemError(code))")
        }
        SecretFile.flushFolder(of: path)
        return (key, true)
    }
}
