import AppReceipt
import Foundation
import OpenSSL
import TestSupport
import Testing

/// Every parser of untrusted bytes with its corpus, and with the corpus changed at random.
///
/// `make fuzz` goes on for as long as one likes, with sanitizers. What it finds becomes a file of the corpus.
struct CorpusTests {
    @Test func `every target has a corpus, and every corpus a target`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: FuzzTarget.corpus.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
        #expect(folders.count == FuzzTarget.all.count, "two targets of one name")
        for target in FuzzTarget.all { #expect(try !target.seeds().isEmpty, "\(target.name)") }
    }

    @Test(arguments: FuzzTarget.all.map(\.name)) func `what must hold holds of the corpus`(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        for (file, bytes) in try target.seeds() {
            #expect(throws: Never.self, "\(name)/\(file)") { try target.run(bytes) }
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name)) func `what must hold holds of the corpus with changes`(
        name: String
    ) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = try target.seeds().map(\.bytes)
        var generator = SeededRandom(seed: 20_261_122)
        for _ in 0..<300 {
            let changed = Mutation.change(seeds.randomElement(using: &generator) ?? [], among: seeds, &generator)
            #expect(throws: Never.self, "\(name): \(Data(changed).base64EncodedString())") { try target.run(changed) }
        }
    }

    @Test func `the receipts to begin with are what their names say`() throws {
        let root = try Certificate(der: try FuzzTarget.fixture("receipt-root.der"))
        let verifier = ReceiptVerifier(roots: [root])
        let signed = try FuzzTarget.signed(in: "receipt")
        #expect(signed.count == 3)
        for receipt in signed { #expect(try verifier.verify(receipt).isGenuine) }
        let xcode = try FuzzTarget.fixture("corpus/receipt/xcode")
        #expect(try verifier.verify(xcode).refusal == .xcodeEnvironment)
        let transaction = try FuzzTarget.fixture("corpus/receipt/transaction")
        #expect(try LegacyTransactionReceipt(transaction).transactionID == "33993399")
    }

    @Test func `what does not hold is a finding`() {
        #expect(throws: FuzzFinding.self) { try hold(false, "it does not") }
        #expect(throws: Never.self) { try hold(true, "it does") }
    }
}

/// Changes bytes a little, so that much of what they mean is left.
private enum Mutation {
    /// Bytes that mean something in BER, JSON, PEM or a header field.
    private static let telling: [UInt8] =
        [0x00, 0x01, 0x02, 0x04, 0x24, 0x30, 0x31, 0x7F, 0x80, 0x81, 0x84, 0x88, 0xA0, 0xC0, 0xED, 0xFF]
        + Array("{}[]\":,\\/%&=+-.;\n ".utf8)

    static func change(
        _ bytes: [UInt8], among corpus: [[UInt8]], _ generator: inout SeededRandom
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
                guard let other = corpus.randomElement(using: &generator), !other.isEmpty else { break }
                let start = Int.random(in: 0..<other.count, using: &generator)
                let part = other[start..<min(start + count, other.count)]
                bytes.replaceSubrange(place..<min(place + part.count, bytes.count), with: part)
            }
        }
        return bytes
    }
}
