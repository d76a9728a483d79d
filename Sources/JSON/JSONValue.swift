/// A JSON document as a tree, for bodies that are small or built by hand; large payloads are better left to
/// ``JSONScanner``.
///
/// Reading makes names and text stream-safe (``UntrustedText/streamSafe``), so that a tree is safe to compare and to hash.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Reads a whole document, whose top level may be any value, with the strictness of ``JSONScanner``.
    ///
    /// - Parameters:
    ///   - bytes: The document in UTF-8.
    ///   - maximumDepth: How many arrays and objects may be nested; never above ``JSONLimits/highestDepth``.
    /// - Throws: ``JSONError`` with the position of the first fault.
    package init(parsing bytes: [UInt8], maximumDepth: Int = JSONLimits.defaultDepth) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
            var cursor = JSONCursor(buffer, maximumDepth: maximumDepth)
            cursor.skipWhitespace()
            let value = try cursor.readValue(depth: 0)
            try cursor.expectEnd()
            return value
        }
    }

    /// Reads a document given as a string.
    package init(parsing text: String, maximumDepth: Int = JSONLimits.defaultDepth) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), maximumDepth: maximumDepth)
    }

    // MARK: Access

    /// The member of an object, or nil if this is another kind or there is none.
    package subscript(_ key: String) -> JSONValue? { object?[key] }

    /// The element of an array, or nil if this is another kind or the index is out of range.
    package subscript(_ index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    package var kind: JSONKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number if it is mathematically an integer in range.
    package var int64: Int64? { number?.int64 }

    /// The nearest double, or nil if the number is beyond the range of doubles.
    package var double: Double? { number?.double }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}

extension JSONCursor {
    /// Reads the value under the cursor into a tree and moves past it.
    mutating func readValue(depth: Int) throws(JSONError) -> JSONValue {
        let start = index
        switch try kind() {
        case .array:
            var elements: [JSONValue] = []
            try readArray(depth: depth) { (cursor: inout JSONCursor) throws(JSONError) in
                elements.append(try cursor.readValue(depth: depth + 1))
            }
            return .array(elements)
        case .object:
            var members: [JSONObject.Member] = []
            try readObject(depth: depth) { (cursor: inout JSONCursor, key) throws(JSONError) in
                let name = cursor.text(key.range, isEscaped: key.unescapedIndex != nil)
                members.append(JSONObject.Member(key: name, value: try cursor.readValue(depth: depth + 1)))
            }
            return .object(JSONObject(unique: members))
        case .string:
            let isEscaped = try skipString()
            return .string(text((start + 1)..<(index - 1), isEscaped: isEscaped))
        case .number:
            try skipNumber()
            return .number(JSONNumber(accepted: text(start..<index, isEscaped: false)))
        case .bool:
            _ = try skipValue(depth: depth)
            return .bool(bytes[start] == UInt8(ascii: "t"))
        case .null:
            _ = try skipValue(depth: depth)
            return .null
        }
    }

    private func text(_ range: Range<Int>, isEscaped: Bool) -> String {
        let written = UnsafeBufferPointer(rebasing: bytes[range])
        let text = isEscaped ? UntrustedText(decoding: JSONText.unescape(written)) : UntrustedText(decoding: written)
        return text.streamSafe
    }
}

/// The six kinds of JSON value.
///
/// Source: RFC 8259, section 3.
package enum JSONKind: Sendable, Equatable {
    case null
    case bool
    case number
    case string
    case array
    case object
}

extension JSONValue: JSONWritable {
    /// The document in UTF-8.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether members are written in the byte order of their names rather than in their own order.
    ///   - pretty: Whether each member and element gets a line of its own, indented by two spaces.
    /// - Returns: The bytes, without a line break at the end.
    package func serialized(sortedKeys: Bool = false, pretty: Bool = false) -> [UInt8] {
        var writer = JSONWriter(indentation: pretty ? 2 : nil)
        write(to: &writer, sortedKeys: sortedKeys)
        return writer.bytes
    }

    /// The document as a string.
    package func serializedString(sortedKeys: Bool = false, pretty: Bool = false) -> String {
        String(decoding: serialized(sortedKeys: sortedKeys, pretty: pretty), as: UTF8.self)
    }

    package func write(to writer: inout JSONWriter) { write(to: &writer, sortedKeys: false) }

    private func write(to writer: inout JSONWriter, sortedKeys: Bool) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.value(value)
        case .number(let value): writer.value(value)
        case .string(let value): writer.value(value)
        case .array(let elements):
            writer.array { writer in
                for element in elements { element.write(to: &writer, sortedKeys: sortedKeys) }
            }
        case .object(let object):
            writer.object { writer in
                for member in sortedKeys ? object.sortedMembers : object.members {
                    writer.name(member.key)
                    member.value.write(to: &writer, sortedKeys: sortedKeys)
                }
            }
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The document on one line.
    package var description: String { serializedString() }
}

extension JSONObject: JSONWritable {
    package func write(to writer: inout JSONWriter) { JSONValue.object(self).write(to: &writer) }

    /// The members by the byte order of their names.
    var sortedMembers: [Member] {
        members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

// A tree can be written as a Swift literal, which is how tests and small fixed bodies read best.

extension JSONValue: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
}

extension JSONValue: ExpressibleByFloatLiteral {
    /// A literal is finite, unless it is too large for a double; then it is null.
    package init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
}

extension JSONValue: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    /// Members in their order; of a name given twice the last value counts.
    package init(_ elements: some Sequence<(String, JSONValue)>) {
        self.init()
        for (key, value) in elements { self[key] = value }
    }
}
