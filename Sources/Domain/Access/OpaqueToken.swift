/// A bearer token of ours, as a caller sends it (RFC 6750).
///
/// `prs_`, eight characters that name it, 43 that are its secret (256 bits), and six that are the checksum of all before them,
/// all of `0`–`9`, `A`–`Z`, `a`–`z`. `pattern` finds one in a text, and the checksum tells a token from a word that looks like
/// one, and a mistyped one from a wrong one. The name is no secret: lists and logs show it, so that a token that was found
/// somewhere can be revoked by what it begins with.
package struct OpaqueToken: Sendable {
    /// What every token begins with.
    package static let prefix = "prs_"
    /// The regular expression for scanners of leaked secrets.
    package static let pattern = #"\bprs_[0-9A-Za-z]{57}\b"#
    static let idLength = 8
    private static let secretLength = 43
    private static let checksumLength = 6
    /// How long tokens were before they had a checksum; they are good where the configuration has their digest.
    private static let olderLength = 47
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// All of it; whoever has this text is the caller.
    package let text: String
    /// What names it, which is no secret.
    package let id: String

    /// Draws a token at random.
    ///
    /// - Parameter randomBytes: gives so many bytes from the system's source of randomness for secrets.
    /// - Returns: the token.
    /// - Throws: what `randomBytes` throws.
    package static func generate(_ randomBytes: (Int) throws -> [UInt8]) rethrows -> OpaqueToken {
        var characters: [UInt8] = []
        while characters.count < idLength + secretLength {
            // 248 is the largest multiple of 62 in a byte: what lies above would make some characters likelier than others.
            characters += try randomBytes(64).filter { $0 < 248 }.map { alphabet[Int($0) % alphabet.count] }
        }
        let body = prefix + String(decoding: characters.prefix(idLength + secretLength), as: UTF8.self)
        return OpaqueToken(text: body + checksum(of: body[...]), id: id(of: body[...]))
    }

    /// What a text is by its looks.
    package enum Reading: Sendable {
        /// It has the form of a token of ours, and its checksum is right; with what names it, which is no secret.
        case token(id: String)
        /// It begins as one of ours does, but is not as it was made: mistyped or cut off.
        case damaged
        /// Something else, which may be a token that somebody else made.
        case other
    }

    /// Reads what a caller sent, without a copy of it.
    package static func read(_ text: Substring) -> Reading {
        let bytes = text.utf8
        guard bytes.starts(with: prefix.utf8), bytes.count != olderLength else { return .other }
        guard bytes.count == prefix.utf8.count + idLength + secretLength + checksumLength,
            bytes.dropFirst(prefix.utf8.count).allSatisfy(alphabet.contains)
        else { return .damaged }
        let body = Substring(bytes.dropLast(checksumLength))
        guard bytes.suffix(checksumLength).elementsEqual(checksum(of: body).utf8) else { return .damaged }
        return .token(id: id(of: body))
    }

    /// Reads a whole text.
    package static func read(_ text: String) -> Reading { read(text[...]) }

    /// Whether a text can name a token.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count == idLength && text.utf8.allSatisfy(alphabet.contains)
    }

    private static func id(of body: Substring) -> String {
        String(body.dropFirst(prefix.count).prefix(idLength))
    }

    /// CRC-32 as gzip has it (ISO 3309), as a number to the base of 62 with its leading zeroes.
    private static func checksum(of body: Substring) -> String {
        var remainder: UInt32 = 0xFFFF_FFFF
        for byte in body.utf8 {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        var number = ~remainder
        var digits: [UInt8] = []
        for _ in 0..<checksumLength {
            digits.append(alphabet[Int(number % 62)])
            number /= 62
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }
}
