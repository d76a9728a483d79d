/// The header fields of a response, in the order in which they came; a name may occur more than once.
package struct CurlHeaders: Sendable {
    private var fields: [(name: String, value: String)] = []

    init() {}

    /// The value of the first field with this name, compared without regard to ASCII case.
    package subscript(_ name: String) -> String? { fields.first { Self.matches($0.name, name) }?.value }

    /// The values of all fields with this name, in their order.
    package func values(of name: String) -> [String] {
        fields.filter { Self.matches($0.name, name) }.map(\.value)
    }

    mutating func append(name: String, value: String) { fields.append((name, value)) }

    /// Continues the last field's value by a line that was folded (RFC 9112, section 5.2).
    mutating func extendLast(by text: String) {
        guard let last = fields.indices.last else { return }
        fields[last].value += " " + text
    }

    mutating func removeAll() { fields.removeAll() }

    private static func matches(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

extension CurlHeaders: RandomAccessCollection {
    package var startIndex: Int { fields.startIndex }
    package var endIndex: Int { fields.endIndex }

    package subscript(position: Int) -> (name: String, value: String) { fields[position] }
}
