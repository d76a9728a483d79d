/// A JSON document as a tree, for bodies that are small or built by hand; large payloads are better left to
/// ``JSONScanner``.
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
        return isEscaped
            ? String(decoding: JSONText.unescape(written), as: UTF8.self) : String(decoding: written, as: UTF8.self)
    }
}
