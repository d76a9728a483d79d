import Foundation
import OpenSSL

/// A private key as it may come out of an editor, a CI variable or a bad copy.
package struct MutilatedKey: Sendable {
    /// What was done to it.
    package let kind: String
    package let bytes: [UInt8]

    /// The content as text, in which invalid UTF-8 is replaced.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Makes one key of every kind in each round, each of a fresh private key.
    ///
    /// - Parameters:
    ///   - seed: decides all of it.
    ///   - rounds: how many keys there are of each kind.
    /// - Returns: the keys, and what finds parts of them.
    /// - Throws: when libcrypto fails.
    package static func all(seed: UInt64, rounds: Int) throws -> (keys: [MutilatedKey], traces: KeyTraces) {
        var random = SeededRandom(seed: seed)
        var traces = KeyTraces()
        var keys: [MutilatedKey] = []
        for round in 0..<rounds {
            let other = try ThrowAwayKey(using: &random)
            traces.add(other.number, named: "the second key of round \(round)")
            for (kind, mutilate) in kinds {
                let key = try ThrowAwayKey(using: &random)
                traces.add(key.number, named: "\(kind), round \(round)")
                keys.append(MutilatedKey(kind: kind, bytes: mutilate(key, other, &random)))
            }
        }
        return (keys, traces)
    }

    private typealias Mutilation =
        @Sendable (_ key: ThrowAwayKey, _ other: ThrowAwayKey, _ random: inout SeededRandom) -> [UInt8]

    private static let kinds: [(kind: String, mutilate: Mutilation)] = shapes + forms + damages + surroundings

    /// Line breaks, marks and quotes.
    private static let shapes: [(String, Mutilation)] = [
        ("one line", { key, _, _ in text(key.pem.replacing("\n", with: "")) }),
        ("SEC 1, one line", { key, _, _ in text(key.sec1PEM.replacing("\n", with: "")) }),
        ("spaces for line breaks", { key, _, _ in text(key.pem.replacing("\n", with: " ")) }),
        ("SEC 1, spaces for line breaks", { key, _, _ in text(key.sec1PEM.replacing("\n", with: " ")) }),
        ("tabs for line breaks", { key, _, _ in text(key.pem.replacing("\n", with: "\t")) }),
        ("joined lines", { key, _, _ in text(joined(key.pem)) }),
        ("BEGIN joined", { key, _, _ in text(key.pem.replacing("KEY-----\nM", with: "KEY-----M")) }),
        ("END joined", { key, _, _ in text(key.pem.replacing("\n-----END", with: "-----END")) }),
        ("CRLF", { key, _, _ in text(key.pem.replacing("\n", with: "\r\n")) }),
        ("CR only", { key, _, _ in text(key.pem.replacing("\n", with: "\r")) }),
        ("byte order mark", { key, _, _ in [0xEF, 0xBB, 0xBF] + text(key.pem) }),
        ("UTF-16", { key, _, _ in [0xFF, 0xFE] + key.pem.utf8.flatMap { [$0, 0] } }),
        ("escaped line breaks", { key, _, _ in text(key.pem.replacing("\n", with: #"\n"#)) }),
        ("SEC 1, escaped line breaks", { key, _, _ in text(key.sec1PEM.replacing("\n", with: #"\n"#)) }),
        ("escaped CRLF", { key, _, _ in text(key.pem.replacing("\n", with: #"\r\n"#)) }),
        ("twice escaped line breaks", { key, _, _ in text(key.pem.replacing("\n", with: #"\\n"#)) }),
        ("quotes", { key, _, _ in text("\"\(key.pem)\"") }),
        ("single quotes", { key, _, _ in text("'\(key.pem.dropLast())'\n") }),
        ("a word processor's quotes", { key, _, _ in text("\u{201C}\(key.pem.dropLast())\u{201D}\n") }),
        ("quotes and escaped line breaks", { key, _, _ in text(json(key.pem)) }),
        ("quotes at the end", { key, _, _ in text(key.pem.dropLast() + "\"\n") }),
    ]

    /// Other forms and encodings.
    private static let forms: [(String, Mutilation)] = [
        ("SEC 1", { key, _, _ in text(key.sec1PEM) }),
        (
            "SEC 1 with parameters",
            { key, _, _ in
                text("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n\(key.sec1PEM)")
            }
        ),
        ("DER", { key, _, _ in key.pkcs8 }),
        ("SEC 1, DER", { key, _, _ in key.sec1 }),
        ("hexadecimal", { key, _, _ in text(hexadecimal(key.pkcs8)) }),
        ("hexadecimal capitals", { key, _, _ in text(hexadecimal(key.sec1).uppercased()) }),
        ("hexadecimal number", { key, _, _ in text(hexadecimal(key.number)) }),
        ("hexadecimal with colons", { key, _, _ in text(key.number.map { hexadecimal([$0]) }.joined(separator: ":")) }),
        ("numbers", { key, _, _ in text("\(key.number)") }),
        ("Base64 of the file", { key, _, _ in text(Data(key.pem.utf8).base64EncodedString()) }),
        (
            "Base64 of the file in lines",
            { key, _, _ in text(Data(key.sec1PEM.utf8).base64EncodedString(options: .lineLength76Characters)) }
        ),
        ("the number in Base64 for URLs", { key, _, _ in text(forURLs(Data(key.number).base64EncodedString())) }),
        ("Base64 for URLs", { key, _, _ in text(forURLs(key.pem, but: "-----")) }),
        ("as if encrypted", { key, _, _ in text(ThrowAwayKey.pem(key.pkcs8, "ENCRYPTED PRIVATE KEY")) }),
        (
            "as if encrypted, SEC 1",
            { key, _, _ in
                text(key.sec1PEM.replacing("-----\nM", with: "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: X,00\n\nM"))
            }
        ),
        ("public key", { key, _, _ in text((try? key.publicKey.pemRepresentation()) ?? "") }),
        ("as if a public key", { key, _, _ in text(ThrowAwayKey.pem(key.pkcs8, "PUBLIC KEY")) }),
        ("as if a certificate", { key, _, _ in text(ThrowAwayKey.pem(key.pkcs8, "CERTIFICATE")) }),
    ]

    /// What is lost or wrong.
    private static let damages: [(String, Mutilation)] = [
        ("truncated", { key, _, random in truncated(text(key.pem), &random) }),
        ("SEC 1, truncated", { key, _, random in truncated(text(key.sec1PEM), &random) }),
        ("one line, truncated", { key, _, random in truncated(text(key.pem.replacing("\n", with: "")), &random) }),
        ("DER, truncated", { key, _, random in truncated(key.pkcs8, &random) }),
        ("content truncated", { key, _, random in pem(truncated(key.pkcs8, &random)) }),
        ("BEGIN lost", { key, _, _ in text(key.pem.replacing("BEGIN PRIVATE KEY", with: "")) }),
        ("label lost", { key, _, _ in text(joined(key.pem).replacing("PRIVATE KEY-----\n", with: "")) }),
        ("SEC 1, label lost", { key, _, _ in text(joined(key.sec1PEM).replacing("EC PRIVATE KEY-----\n", with: "")) }),
        ("the number as label", { key, _, _ in pem(key.pkcs8, Data(key.number).base64EncodedString()) }),
        ("digits of the number as label", { key, _, _ in pem(key.pkcs8, hexadecimal(Array(key.number.prefix(16)))) }),
        (
            "no boundaries",
            { key, _, _ in text(key.pem.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")) }
        ),
        ("no dashes before BEGIN", { key, _, _ in text(String(key.pem.dropFirst(5))) }),
        ("no dashes after BEGIN", { key, _, _ in text(key.pem.replacing("KEY-----\nM", with: "KEY\nM")) }),
        (
            "no dashes after BEGIN, one line",
            { key, _, _ in text(key.pem.replacing("KEY-----\nM", with: "KEYM").replacing("\n", with: "")) }
        ),
        ("dashes lost", { key, _, random in flipped(text(key.pem), &random) { $0 == UInt8(ascii: "-") } }),
        ("characters changed", { key, _, random in flipped(text(key.pem), &random) { $0 > 0x2D } }),
        ("bytes changed", { key, _, random in pem(flipped(key.pkcs8, &random) { _ in true }) }),
        ("the number as algorithm", { key, _, _ in pem(algorithm(identifiedBy: key.number, in: key, isCurve: false)) }),
        ("the number as curve", { key, _, _ in pem(algorithm(identifiedBy: key.number, in: key, isCurve: true)) }),
        ("lines backwards", { key, _, _ in text(key.pem.split(separator: "\n").reversed().joined(separator: "\n")) }),
    ]

    /// What is around it.
    private static let surroundings: [(String, Mutilation)] = [
        ("two keys", { key, other, _ in text(key.pem + other.pem) }),
        ("two keys, joined", { key, other, _ in text(key.pem.dropLast() + other.sec1PEM) }),
        ("text before", { key, _, _ in text("Bag Attributes\n    localKeyID: 01\n\(key.pem)") }),
        ("JSON", { key, _, _ in text("{\"private_key\": \(json(key.pem))}") }),
        (
            "YAML",
            { key, _, _ in text("privateKey: |\n  \(key.pem.replacing("\n", with: "\n  "))\n") }
        ),
        ("a variable", { key, _, _ in text("PRIVATE_KEY=\"\(key.sec1PEM)\"\n") }),
        ("JWK", { key, _, _ in text("{\"kty\":\"EC\",\"d\":\"\(forURLs(Data(key.number).base64EncodedString()))\"}") }),
    ]

    // MARK: Parts

    private static func text(_ text: some StringProtocol) -> [UInt8] { Array(text.utf8) }

    private static func pem(_ der: [UInt8], _ label: String = "PRIVATE KEY") -> [UInt8] {
        Array(ThrowAwayKey.pem(der, label).utf8)
    }

    /// With the content on one line.
    private static func joined(_ pem: String) -> String {
        let lines = pem.split(separator: "\n")
        return ([String(lines[0]), lines.dropFirst().dropLast().joined()] + lines.suffix(1).map(String.init))
            .joined(separator: "\n")
    }

    private static func json(_ text: String) -> String { "\"\(text.replacing("\n", with: #"\n"#))\"" }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// In the alphabet for URLs (RFC 4648 section 5), without padding; `kept` is left as it is.
    private static func forURLs(_ text: String, but kept: String = "\n") -> String {
        text.split(separator: "\n").map { line in
            line.contains(kept)
                ? String(line)
                : String(line).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }.joined(separator: "\n")
    }

    private static func truncated(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        Array(bytes.prefix(Int.random(in: 1..<bytes.count, using: &random)))
    }

    /// With one to eight of the bytes that a test chooses replaced by others.
    private static func flipped(
        _ bytes: [UInt8], _ random: inout SeededRandom, where isChosen: (UInt8) -> Bool
    ) -> [UInt8] {
        var bytes = bytes
        let places = bytes.indices.filter { isChosen(bytes[$0]) }
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            guard let place = places.randomElement(using: &random) else { break }
            bytes[place] = UInt8.random(in: 0...255, using: &random)
        }
        return bytes
    }

    /// PKCS #8 in which bytes of the number have slipped into an object identifier.
    private static func algorithm(identifiedBy number: [UInt8], in key: ThrowAwayKey, isCurve: Bool) -> [UInt8] {
        let identifier = [0x06, UInt8(ThrowAwayKey.identifierCount)] + number.prefix(ThrowAwayKey.identifierCount)
        let ecKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        let algorithm = isCurve ? ecKey + identifier : identifier
        let rest = [0x02, 0x01, 0x00, 0x30, UInt8(algorithm.count)] + algorithm + key.pkcs8[27...]
        return [0x30, 0x81, UInt8(rest.count)] + rest
    }
}
