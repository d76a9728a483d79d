import Testing

@testable import GRPCAPI

/// The wire format, against the examples of its documentation and its bounds.
struct WireTests {
    /// The examples of https://protobuf.dev/programming-guides/encoding/ and the bounds.
    @Test(
        arguments: [
            (0, [0]), (1, [1]), (127, [0x7f]), (128, [0x80, 1]), (150, [0x96, 1]), (300, [0xac, 2]),
            (UInt64.max, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ] as [(UInt64, [UInt8])])
    func `numbers are written in groups of seven bits, the lowest first`(value: UInt64, bytes: [UInt8]) throws {
        var writer = WireWriter()
        writer.varint(value)
        #expect(writer.bytes == bytes)
        var reader = WireReader(bytes)
        #expect(try reader.varint() == value)
        #expect(reader.isAtEnd)
    }

    @Test func `fields of every type are read in order`() throws {
        var writer = WireWriter()
        writer.field(1, int64: -1)
        writer.field(2, text: "testing")
        writer.field(3, double: 1.5)
        writer.field(4) { $0.field(1, varint: 150) }
        #expect(
            ContractFixture.hex(writer.bytes)
                == "08ffffffffffffffffff01120774657374696e6719000000000000f83f2203089601")
        var reader = WireReader(writer.bytes + [0x2d, 1, 0, 0, 0])
        #expect(try reader.next()?.value == .varint(.max))
        #expect(try reader.next()?.value == .bytes(13..<20))
        #expect(try reader.next()?.value == .fixed64(1.5.bitPattern))
        #expect(try reader.next()?.value == .bytes(31..<34))
        let last = try reader.next()
        #expect(last?.number == 5 && last?.value == .fixed32(1))
        #expect(try reader.next() == nil)
    }

    @Test(
        arguments: [
            // A number that does not end, one of eleven bytes, one with more than 64 bits.
            [0x80], [0x08, 0x80], [0x08] + Array(repeating: 0xff, count: 10) + [1],
            [0x08] + Array(repeating: 0xff, count: 9) + [2],
            // A length beyond the end, also one that no machine has.
            [0x0a, 2, 0], [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            // Numbers of fixed length that are cut off.
            [0x09, 0, 0, 0, 0, 0, 0, 0], [0x0d, 0, 0, 0],
            // The number 0, groups, types that there are not.
            [0x00, 0], [0x0b, 0x0c], [0x0c], [0x0e], [0x0f],
            // A number above the highest.
            [0x80, 0x80, 0x80, 0x80, 0x10, 0],
        ] as [[UInt8]])
    func `what is malformed is refused`(bytes: [UInt8]) {
        #expect(throws: WireReader.Malformed.self) {
            var reader = WireReader(bytes)
            while try reader.next() != nil {}
        }
    }

    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00Z"), (-1, 999_000_000, "1969-12-31T23:59:59.999Z"),
            (951_782_400, 0, "2000-02-29T00:00:00Z"), (951_868_800, 500_000, "2000-03-01T00:00:00.000500Z"),
            (1_769_860_800, 1, "2026-01-31T12:00:00.000000001Z"), (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
            (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
            (-2_203_891_200, 0, "1900-03-01T00:00:00Z"),
        ] as [(Int64, Int64, String)])
    func `times are written and read`(seconds: Int64, nanoseconds: Int64, text: String) throws {
        #expect(TimestampText.text(seconds: seconds, nanoseconds: nanoseconds) == text)
        let parsed = try #require(TimestampText.parse(text))
        #expect(parsed == (seconds, nanoseconds))
    }

    @Test func `times that there are not are neither written nor read`() {
        #expect(TimestampText.text(seconds: 253_402_300_800, nanoseconds: 0) == nil)
        #expect(TimestampText.text(seconds: -62_135_596_801, nanoseconds: 0) == nil)
        #expect(TimestampText.text(seconds: 0, nanoseconds: 1_000_000_000) == nil)
        #expect(TimestampText.text(seconds: 0, nanoseconds: -1) == nil)
        for text in [
            "", "2026", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00Zz", "2026-01-01T00:00:00+1:00",
        ] {
            #expect(TimestampText.parse(text) == nil, "\(text)")
        }
        let offset = TimestampText.parse("2026-01-31T12:00:00.25+01:30")
        #expect(offset?.seconds == 1_769_855_400 && offset?.nanoseconds == 250_000_000)
    }
}
