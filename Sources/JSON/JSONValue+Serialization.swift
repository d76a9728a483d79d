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
