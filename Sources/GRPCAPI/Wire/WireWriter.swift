import JSON

/// Writes the wire format of Protocol Buffers.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 64) { bytes.reserveCapacity(capacity) }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func tag(_ number: Int, _ type: UInt64) { varint(UInt64(number) << 3 | type) }

    mutating func field(_ number: Int, varint value: UInt64) {
        tag(number, WireFormat.varint)
        varint(value)
    }

    /// A signed number; a negative one takes ten bytes.
    mutating func field(_ number: Int, int64 value: Int64) { field(number, varint: UInt64(bitPattern: value)) }

    mutating func field(_ number: Int, double value: Double) {
        tag(number, WireFormat.fixed64)
        fixed64(value.bitPattern)
    }

    mutating func fixed64(_ value: UInt64) {
        for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }

    /// A text, bytes, or a message that has been written already.
    mutating func field(_ number: Int, bytes content: some Collection<UInt8>) {
        tag(number, WireFormat.bytes)
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func field(_ number: Int, text: String) { field(number, bytes: text.utf8) }

    mutating func field(_ number: Int, text: UntrustedText) { field(number, bytes: text.utf8) }

    /// A message that the closure writes.
    mutating func field(_ number: Int, message write: (inout WireWriter) -> Void) {
        var inner = WireWriter()
        write(&inner)
        field(number, bytes: inner.bytes)
    }
}
