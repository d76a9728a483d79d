import Testing

@testable import AppReceipt

struct BERReaderTests {
    private func reader(_ bytes: [UInt8], depth: Int = 8) -> BERReader { BERReader(bytes, maximumDepth: depth) }

    private func octets(_ bytes: [UInt8], depth: Int = 8) throws -> [UInt8] {
        var reader = reader(bytes, depth: depth)
        switch try reader.octetString("octets", in: bytes) {
        case .whole(let inner): return Array(bytes[inner.rest])
        case .pieces(let octets, let inner): return Array(octets[inner.rest])
        }
    }

    private func fault(_ body: () throws -> Void) -> ReceiptDecodingError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? ReceiptDecodingError)?.reason
        }
    }

    @Test(arguments: [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x10000])
    func `lengths of every size are read`(count: Int) throws {
        let content = [UInt8](repeating: 7, count: count)
        #expect(try octets(BER.octets(content)) == content)
        // Not in the shortest form, which BER allows.
        let padded = [0x04, 0x88] + withUnsafeBytes(of: count.bigEndian, Array.init) + content
        #expect(try octets(padded) == content)
    }

    @Test func `octet strings in pieces within pieces are put together`() throws {
        let content = Array(UInt8(0)..<100)
        #expect(try octets(BER.pieces(content)) == content)
        #expect(try octets(BER.indefinite(0x24, [])) == [])
    }

    @Test func `elements of indefinite length end where they end, whatever they hold`() throws {
        let inner = BER.indefinite(0x30, BER.indefinite(0x31, BER.octets([0, 0, 0, 0])) + BER.octets([]))
        let bytes = inner + BER.octets([9])
        var reader = reader(bytes)
        let element = try reader.next(in: bytes)
        #expect(element.content == 2..<(inner.count - 2))
        #expect(try octets(Array(bytes[reader.rest])) == [9])
    }

    @Test(
        arguments: [
            ([0x02, 0x01, 0x00], 0), ([0x02, 0x01, 0xFF], -1), ([0x02, 0x02, 0x00, 0x80], 128),
            ([0x02, 0x08, 0x80, 0, 0, 0, 0, 0, 0, 0], .min),
            ([0x02, 0x08, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Int64.max),
        ] as [([UInt8], Int64)])
    func `integers have a sign`(bytes: [UInt8], number: Int64) throws {
        var reader = reader(bytes)
        #expect(try reader.integer("a number", in: bytes) == number)
        #expect(reader.isAtEnd)
    }

    @Test(
        arguments: [
            [], [0x04], [0x04, 0x02, 0x00], [0x04, 0x84, 0x00], [0x24, 0x80], [0x24, 0x80, 0x00], [0x30, 0x80, 0x04],
            [0x04, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x04, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0x04, 0xFF] + [UInt8](repeating: 0xFF, count: 127),
        ] as [[UInt8]])
    func `what ends too early is told`(bytes: [UInt8]) {
        #expect(fault { _ = try octets(bytes) } == .truncated)
    }

    @Test(
        arguments: [
            // A primitive of indefinite length, tags of several bytes, zeros alone, an integer in the place of octets, and one
            // among the pieces.
            [0x04, 0x80, 0x00, 0x00], [0x1F, 0x81, 0x01, 0x00], [0x00, 0x00], [0x02, 0x01, 0x00],
            [0x24, 0x03, 0x02, 0x01, 0x00],
        ] as [[UInt8]])
    func `what is something else is told`(bytes: [UInt8]) {
        guard case .malformed = fault({ _ = try octets(bytes) }) else {
            Issue.record("read \(bytes)")
            return
        }
    }

    @Test(arguments: [[], [1, 2, 3, 4, 5, 6, 7, 8, 9]] as [[UInt8]])
    func `an integer has one to eight bytes`(content: [UInt8]) {
        let bytes = BER.element(0x02, content)
        var reader = reader(bytes)
        #expect(fault { _ = try reader.integer("a number", in: bytes) } == .malformed(expected: "a number"))
    }

    @Test func `depth has a limit, in lengths of both forms`() throws {
        let deep = (0..<8).reduce(BER.octets([])) { bytes, _ in BER.indefinite(0x24, bytes) }
        let deepDefinite = (0..<8).reduce(BER.octets([])) { bytes, _ in BER.element(0x24, bytes) }
        for bytes in [deep, deepDefinite] {
            #expect(try octets(bytes, depth: 9) == [])
            #expect(fault { _ = try octets(bytes, depth: 7) } == .tooDeep(limit: 7))
        }
        // A million levels cost no stack.
        let bottomless = Array(repeatElement([0x24, 0x80] as [UInt8], count: 1_000_000).joined())
        #expect(fault { _ = try octets(bottomless) } == .tooDeep(limit: 8))
    }
}
