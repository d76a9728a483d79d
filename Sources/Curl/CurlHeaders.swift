/// The header fields of a response, in the order in which they came; a name may occur more than once.
///
/// They are kept as they came and read when somebody asks: most answers are used without a look at their fields.
package struct CurlHeaders: Sendable {
    private struct Field {
        let name: Range<Int>
        var value: Range<Int>
    }

    /// All names and values, one after the other.
    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    init() {}

    /// The value of the first field with this name, compared without regard to ASCII case.
    package subscript(_ name: String) -> String? { fields.first { has($0, name) }.map { text($0.value) } }

    /// The values of all fields with this name, in their order.
    package func values(of name: String) -> [String] {
        fields.filter { has($0, name) }.map { text($0.value) }
    }

    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: name)
        let middle = bytes.count
        bytes.append(contentsOf: value)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Continues the last field's value by a line that was folded (RFC 9112, section 5.2).
    mutating func extendLast(by text: some Collection<UInt8>) {
        guard let last = fields.indices.last else { return }
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: text)
        fields[last].value = fields[last].value.lowerBound..<bytes.count
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func has(_ field: Field, _ name: String) -> Bool {
        Self.areEqual(bytes[field.name], name.utf8)
    }

    /// Whether two names are the same without regard to ASCII case.
    static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

extension CurlHeaders: RandomAccessCollection {
    package var startIndex: Int { fields.startIndex }
    package var endIndex: Int { fields.endIndex }

    package subscript(position: Int) -> (name: String, value: String) {
        (text(fields[position].name), text(fields[position].value))
    }
}
