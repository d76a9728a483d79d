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

    /// Reads a key as it is written in a line of a file: 64 hexadecimal digits.
    ///
    /// - Throws: `MasterKeyError`
    convenience init(digits: UnsafeRawBufferPointer) throws(MasterKeyError) {
        var isMalformed = false
        let bytes = try Self.secret { isMalformed = !Self.decode(digits, into: $0) }
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

    /// Length of a key as it is written in a line, in bytes, the line feed included.
    static let lineCount = 2 * AuthenticatedEncryption.keyCount + 1

    /// Writes the key as ``init(digits:)`` reads it, and a line feed.
    ///
    /// - Parameter output: ``lineCount`` bytes.
    func writeLine(to output: UnsafeMutableRawBufferPointer) {
        bytes.withUnsafeBytes { bytes in
            for (index, byte) in bytes.enumerated() {
                output[2 * index] = Self.digits[Int(byte >> 4)]
                output[2 * index + 1] = Self.digits[Int(byte & 0xF)]
            }
        }
        output[2 * bytes.count] = UInt8(ascii: "\n")
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func decode(_ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        guard text.count == 2 * output.count else { return false }
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
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(MasterKeyError) -> SecureBytes {
        do throws(SecureBytesError) {
            return try SecureBytes(count: AuthenticatedEncryption.keyCount, fill: fill)
        } catch {
            throw .library("\(error)")
        }
    }
}

/// Why there is no master key.
package enum MasterKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is not 32 bytes, or not written as 64 hexadecimal digits.
    case malformed
    /// More keys than are read.
    case tooMany
    /// No entropy, no memory, or libcrypto failed.
    case library(String)

    package var description: String {
        switch self {
        case .malformed: "not a master key: 64 hexadecimal digits, as `openssl rand -hex 32` prints them"
        case .tooMany: "more than \(MasterKeys.maximumCount) master keys; leave the present one and those before it"
        case .library(let text): text
        }
    }
}
