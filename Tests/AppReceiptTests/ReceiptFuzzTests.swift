import AppStoreSimulator
import Foundation
import OpenSSL
import Testing

@testable import AppReceipt

/// Thousands of changed receipts: none crashes anything, none is believed.
///
/// `make fuzz-receipts` goes on for longer.
struct ReceiptFuzzTests {
    private static let resources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources")
    private static let names = [
        "indefinite-lengths", "signed-attributes-ec", "signed-content-rsa", "transaction", "xcode",
    ]

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: Self.resources.appending(path: name)))
    }

    private func corpus() throws -> [[UInt8]] { try Self.names.map { try bytes("corpus/\($0)") } }

    private func verifier() throws -> ReceiptVerifier {
        ReceiptVerifier(roots: [try Certificate(der: bytes("root.der"))])
    }

    @Test func `the receipts to begin with are what their names say`() throws {
        let verifier = try verifier()
        for name in ["indefinite-lengths", "signed-attributes-ec", "signed-content-rsa"] {
            #expect(try verifier.verify(bytes("corpus/\(name)")).isGenuine, "\(name)")
        }
        #expect(try verifier.verify(bytes("corpus/xcode")).refusal == .xcodeEnvironment)
        #expect(try LegacyTransactionReceipt(bytes("corpus/transaction")).transactionID == "33993399")
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.resources.appending(path: "corpus").path)
        #expect(Set(names) == Set(Self.names))
    }

    @Test(arguments: 0..<6) func `no changed receipt crashes anything or is believed`(seed: UInt64) throws {
        let verifier = try verifier()
        let corpus = try corpus()
        let signed = Set(corpus.compactMap { try? CMSSignedData(ber: $0).content })
        var generator = SeededGenerator(seed: seed)
        var outcomes: [String: Int] = [:]
        for _ in 0..<1000 {
            let changed = Mutation.change(corpus.randomElement(using: &generator) ?? [], among: corpus, &generator)
            _ = try? TransactionIDExtraction.transactionID(in: changed)
            _ = try? LegacyTransactionReceipt(changed)
            do {
                let judged = try verifier.verify(changed)
                outcomes[judged.isGenuine ? "genuine" : "refused", default: 0] += 1
                // What is changed around the content may leave it as it was signed.
                if judged.isGenuine {
                    let content = try CMSSignedData(ber: changed).content
                    #expect(content.map(signed.contains) == true)
                }
            } catch is ReceiptDecodingError {
                outcomes["undecodable", default: 0] += 1
            }
        }
        #expect(outcomes["refused", default: 0] > 30, "too few changes leave something to judge: \(outcomes)")
        #expect(outcomes["undecodable", default: 0] > 30, "too few changes break anything: \(outcomes)")
    }
}

/// Changes to bytes, as chance will have it.
private enum Mutation {
    /// Bytes that mean something in BER.
    private static let telling: [UInt8] = [
        0x00, 0x01, 0x02, 0x04, 0x24, 0x30, 0x31, 0x7F, 0x80, 0x81, 0x84, 0x88, 0xA0, 0xFF,
    ]

    static func change(
        _ bytes: [UInt8], among corpus: [[UInt8]], _ generator: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let count = min(Int.random(in: 1...64, using: &generator), bytes.count - place)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2, 3: bytes[place] = telling.randomElement(using: &generator) ?? 0
            case 4: bytes[place] &+= 1
            case 5: bytes.removeSubrange(place..<(place + count))
            case 6: bytes.insert(contentsOf: bytes[place..<(place + count)], at: place)
            default:
                let other = corpus.randomElement(using: &generator) ?? []
                let start = Int.random(in: 0..<other.count, using: &generator)
                let part = other[start..<min(start + count, other.count)]
                bytes.replaceSubrange(place..<min(place + part.count, bytes.count), with: part)
            }
        }
        return bytes
    }
}
