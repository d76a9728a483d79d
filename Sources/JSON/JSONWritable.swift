/// What a ``JSONWriter`` can write as one value.
package protocol JSONWritable {
    /// Writes exactly one value.
    func write(to writer: inout JSONWriter)
}

extension String: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.scalar { JSONText.append(self, to: &$0) } }
}

extension Bool: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw((self ? "true" : "false").utf8) }
}

extension Int: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(String(self).utf8) }
}

extension Int32: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(String(self).utf8) }
}

extension Int64: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(String(self).utf8) }
}

extension Double: JSONWritable {
    /// Writes null for an infinity or NaN, for which JSON has no number.
    package func write(to writer: inout JSONWriter) {
        if let number = JSONNumber(self) { writer.value(number) } else { writer.null() }
    }
}

extension JSONNumber: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.raw(text.utf8) }
}

extension JSONSlice: JSONWritable {
    /// Copies the value as it is written.
    package func write(to writer: inout JSONWriter) { writer.raw(rawBytes) }
}

extension JSONMembers: JSONWritable {
    /// Copies the object as it is written.
    package func write(to writer: inout JSONWriter) { writer.raw(rawBytes) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.array { writer in
            for element in self { writer.value(element) }
        }
    }
}
