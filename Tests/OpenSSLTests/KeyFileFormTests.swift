import Foundation
import OpenSSL
import TestSupport
import Testing

/// Key files whose text has been bent on its way: what they are called, and that the named command repairs them.
struct KeyFileFormTests {
    private func refusal(_ text: String) -> PrivateKeyError? {
        do throws(PrivateKeyError) {
            _ = try ECPrivateKey(pkcs8PEM: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    /// Both labels of a fresh key.
    private static func texts() throws -> [String] {
        let pem = try KeyFixtures.pkcs8PEM()
        return [pem, pem.replacing("PRIVATE KEY", with: "EC PRIVATE KEY")]
    }

    @Test func `a key on one line is named for its missing line breaks, whatever its label`() throws {
        for pem in try Self.texts() {
            for separator in ["", " ", "\t", "  "] {
                #expect(refusal(pem.replacing("\n", with: separator)) == .lineBreaksMissing, "\(separator.utf8.count)")
            }
            #expect(refusal(pem.replacing("KEY-----\nM", with: "KEY-----M")) == .lineBreaksMissing)
        }
        let joinedEnd = try KeyFixtures.pkcs8PEM().replacing("\n-----END", with: "-----END")
        #expect(refusal(joinedEnd) == .lineBreaksMissing)
    }

    @Test func `the SEC 1 key on one line of a public report is named for its missing line breaks`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Resources/key-sec1-one-line-throwaway.p8")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(refusal(text) == .lineBreaksMissing)
        #expect(refusal(text)?.description.contains("line breaks missing") == true)
        // The private number is in digits 11 to 52 of the content.
        let digits = try #require(text.split(separator: "-----").dropFirst().first)
        let description = try #require(refusal(text)?.description)
        for start in 0..<(digits.count - 6) {
            #expect(!description.contains(digits.dropFirst(start).prefix(6)))
        }
    }

    @Test func `escaped line breaks are named`() throws {
        for pem in try Self.texts() {
            for escape in [#"\n"#, #"\r\n"#, #"\\n"#, #"\\r\\n"#] {
                #expect(refusal(pem.replacing("\n", with: escape)) == .escapedLineBreaks, "\(escape)")
            }
        }
        let lastAlone = try KeyFixtures.pkcs8PEM().replacing("\n-----END", with: #"\n-----END"#)
        #expect(refusal(lastAlone) == .escapedLineBreaks)
    }

    @Test func `the Base64 of a key file is named`() throws {
        for pem in try Self.texts() {
            let data = Data(pem.utf8)
            #expect(refusal(data.base64EncodedString()) == .base64OfFile)
            #expect(refusal(data.base64EncodedString(options: .lineLength76Characters) + "\n") == .base64OfFile)
        }
    }

    @Test func `quotation marks around a key are named`() throws {
        for pem in try Self.texts() {
            for (open, close) in [
                ("\"", "\""), ("'", "'"), ("`", "`"), ("\u{201C}", "\u{201D}"), ("\u{201E}", "\u{201C}"),
            ] {
                #expect(refusal(open + pem + close) == .quoted)
                #expect(refusal(open + pem.dropLast() + close + "\n") == .quoted)
            }
        }
        let pem = try KeyFixtures.pkcs8PEM()
        #expect(refusal(pem.dropLast() + "\"\n") == .quoted)
        #expect(refusal(pem.dropLast() + "x\n") == .truncated)
    }

    @Test func `the command that a refusal names makes a key that loads`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-repair-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, repaired) = (folder.appending(path: "key"), folder.appending(path: "repaired"))
        let key = try ECPrivateKey.generate()
        let pem = try KeyFixtures.text(of: key.pkcs8PEM())
        let bent = [
            pem.replacing("\n", with: ""), pem.replacing("\n", with: " "), pem.replacing("\n", with: "\t"),
            pem.replacing("KEY-----\nM", with: "KEY-----M"), pem.replacing("\n-----END", with: "-----END"),
            pem.replacing("\n", with: #"\n"#), pem.replacing("\n", with: #"\\r\\n"#),
            Data(pem.utf8).base64EncodedString(),
        ]
        for text in bent {
            let description = try #require(refusal(text)?.description)
            let command = try #require(description.split(separator: "`").first { $0.contains("NEW_FILE") })
            try Data(text.utf8).write(to: file)
            let run = try await ChildProcess.run([
                "sh", "-c",
                String(command).replacing("NEW_FILE", with: repaired.path).replacing("FILE", with: file.path),
            ])
            #expect(run.status == 0, "\(run)")
            let loaded = try ECPrivateKey(pkcs8PEM: Array(Data(contentsOf: repaired)))
            #expect(loaded.publicKey == key.publicKey)
        }
    }

    @Test func `a label that is not in the list is not quoted, whatever it is`() throws {
        for label in ["MHcCAQEEIKDS", "private key", "PRIVATE KEY ", "PRIVATE  KEY", "\u{212A}EY", ""] {
            let error = refusal("-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n")
            #expect(error == .otherBlock(nil) || error == .truncated, "\(label)")
            #expect(label.isEmpty || error?.description.contains("`\(label)`") == false)
        }
        #expect(
            refusal("-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n") == .otherBlock(.dhParameters))
    }

    @Test func `the digits of an unknown algorithm or curve are not given`() throws {
        var random = SeededRandom(seed: 3)
        let key = try ThrowAwayKey(using: &random)
        let unknown: [UInt8] = [0x06, 0x08, 0x2B, 0x06, 0x01, 0x04, 0x01, 0x4D, 0x4E, 0x4F]
        var curve = key.pkcs8
        curve.replaceSubrange(17..<27, with: unknown)
        #expect(
            refusal(ThrowAwayKey.pem(curve, "PRIVATE KEY"))?.description
                == "a key on the curve with an unknown identifier; provide one on the curve P-256")
        var algorithm = key.pkcs8
        algorithm.replaceSubrange(8..<17, with: [0x06, 0x07, 0x2B, 0x06, 0x01, 0x04, 0x01, 0x4D, 0x4E])
        #expect(
            refusal(ThrowAwayKey.pem(algorithm, "PRIVATE KEY"))?.description
                == "a key for an unknown algorithm; provide one for ECDSA on the curve P-256")
    }
}

/// The search for parts of keys, on which other tests rely.
struct KeyTracesTests {
    private static let number = (0..<32).map { UInt8($0 * 37 % 251) ^ 0x5A }

    private static var traces: KeyTraces {
        var traces = KeyTraces()
        traces.add(number, named: "key")
        return traces
    }

    @Test func `a part of a key is found in every form, and less than that is not`() {
        let traces = Self.traces
        for start in 0...26 {
            let part = Array(Self.number[start..<(start + 6)])
            let digits = part.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            #expect(traces.findings(in: [1, 2] + part + [3]) == ["key, its bytes"])
            #expect(traces.findings(in: "x\(digits.joined())") == ["key, its hexadecimal digits"])
            #expect(traces.findings(in: digits.joined(separator: ":").uppercased()) == ["key, its hexadecimal digits"])
            #expect(
                traces.findings(in: "[\(part.map(String.init).joined(separator: ", "))]").contains("key, its numbers"))
            #expect(traces.findings(in: part.dropLast() + [part[5] ^ 1]).isEmpty)
        }
    }

    @Test(arguments: 0..<3)
    func `Base64 is found in each alignment and both alphabets, also encoded once more`(alignment: Int) {
        let traces = Self.traces
        let text = Data([UInt8](repeating: 0xA7, count: alignment) + Self.number).base64EncodedString()
        let first = [0, 2, 3][alignment]
        let own = text.dropFirst(first).prefix((8 * (alignment + 32)) / 6 - first)
        for start in 0...(own.count - 10) {
            let part = own.dropFirst(start).prefix(10)
            #expect(traces.findings(in: "…\(part)…") == ["key, its Base64"])
            #expect(
                traces.findings(in: part.replacing("+", with: "-").replacing("/", with: "_")) == ["key, its Base64"])
            #expect(traces.findings(in: part.dropLast()).isEmpty)
        }
        #expect(traces.findings(in: Data(text.utf8).base64EncodedString()) == ["key, its Base64"])
    }

    @Test func `what all keys share is no part of one`() throws {
        var random = SeededRandom(seed: 4)
        let other = try ThrowAwayKey(using: &random)
        #expect(Self.traces.findings(in: other.pem + other.sec1PEM).isEmpty)
    }
}
