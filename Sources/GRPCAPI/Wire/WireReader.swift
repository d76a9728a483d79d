/// Reads the wire format of Protocol Buffers: numbered fields, one after the other.
///
/// Source: https://protobuf.dev/programming-guides/encoding/
struct WireReader {
    /// The bytes are not what they claim to be.
    struct Malformed: Error, Equatable {}

    /// What stands behind a field's number.
    enum Value: Equatable {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        /// A text, bytes, a message, or several numbers: where it stands.
        case bytes(Range<Int>)
    }

    /// The whole array, of which a part is read.
    let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    /// `range`: the part to read; nil for all.
    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    var isAtEnd: Bool { position >= end }

    /// The next field; nil at the end.
    ///
    /// Groups, which nobody has written for many years, count as malformed.
    mutating func next() throws(Malformed) -> (number: Int, value: Value)? {
        guard !isAtEnd else { return nil }
        let tag = try varint()
        guard let number = Int(exactly: tag >> 3), (1...WireFormat.highestNumber).contains(number) else {
            throw Malformed()
        }
        switch tag & 7 {
        case WireFormat.varint: return (number, .varint(try varint()))
        case WireFormat.fixed64: return (number, .fixed64(try fixed(8)))
        case WireFormat.bytes:
            let count = try varint()
            guard count <= UInt64(end - position) else { throw Malformed() }
            let start = position
            position += Int(count)
            return (number, .bytes(start..<position))
        case WireFormat.fixed32: return (number, .fixed32(UInt32(truncatingIfNeeded: try fixed(4))))
        default: throw Malformed()
        }
    }

    /// A number of one to ten bytes, the lowest seven bits first.
    mutating func varint() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < end {
            let byte = bytes[position]
            position += 1
            // Of the tenth byte one bit is left.
            guard shift < 63 || byte <= 1 else { throw Malformed() }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw Malformed()
    }

    /// A number of so many bytes, the lowest first.
    mutating func fixed(_ count: Int) throws(Malformed) -> UInt64 {
        guard end - position >= count else { throw Malformed() }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[position + index]) << UInt64(8 * index) }
        position += count
        return value
    }
}

/// The numbers of the wire format itself.
enum WireFormat {
    static let varint: UInt64 = 0
    static let fixed64: UInt64 = 1
    static let bytes: UInt64 = 2
    static let fixed32: UInt64 = 5
    /// The highest number of a field.
    static let highestNumber = (1 << 29) - 1
}
