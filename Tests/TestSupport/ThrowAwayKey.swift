import Foundation
package import OpenSSL

/// A private key on P-256 that a seed decides, in every form that key files have.
package struct ThrowAwayKey: Sendable {
    /// How many bytes of the number are 0x7F at most, so that they can be an object identifier (X.690 section 8.19).
    package static let identifierCount = 20

    /// The private number, 32 bytes, big-endian.
    package let number: [UInt8]
    /// PKCS #8 (RFC 5958).
    package let pkcs8: [UInt8]
    /// SEC 1 (RFC 5915).
    package let sec1: [UInt8]
    package let publicKey: ECPublicKey

    package var pem: String { Self.pem(pkcs8, "PRIVATE KEY") }
    package var sec1PEM: String { Self.pem(sec1, "EC PRIVATE KEY") }

    package init(using random: inout SeededRandom) throws {
        // Below the order of the group, too.
        let number = (0..<32).map { UInt8.random(in: 0...($0 < Self.identifierCount ? 0x7F : 0xFF), using: &random) }
        let ecKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        let start: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20] + number
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            let length = content.count < 0x80 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]
            return [tag] + length + content
        }
        func info(_ key: [UInt8]) -> [UInt8] {
            element(0x30, [0x02, 0x01, 0x00] + element(0x30, ecKey + p256) + element(0x04, element(0x30, key)))
        }
        // Without its public half first, which is read from what was loaded.
        publicKey = try ECPrivateKey(pkcs8PEM: Array(Self.pem(info(start), "PRIVATE KEY").utf8)).publicKey
        let publicHalf = element(0xA1, element(0x03, [0x00, 0x04] + publicKey.rawRepresentation))
        pkcs8 = info(start + publicHalf)
        sec1 = element(0x30, start + element(0xA0, p256) + publicHalf)
        self.number = number
    }

    /// A PEM text with lines of 64 digits.
    package static func pem(_ der: [UInt8], _ label: String) -> String {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }
}
