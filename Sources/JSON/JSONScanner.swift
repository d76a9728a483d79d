/// Checks a document once and remembers where its top-level members stand, so that it can be read in part and passed on
/// as it is.
package enum JSONScanner {
    /// Checks a whole document, which must be one object, and finds its members.
    ///
    /// The grammar is RFC 8259 without leniency: valid UTF-8 without byte order mark, no duplicate names in any object,
    /// no lone surrogates, nothing but white space after the end.
    ///
    /// - Parameters:
    ///   - bytes: The document. It is kept, not copied.
    ///   - maximumDepth: How many arrays and objects may be nested, the outermost included; never above
    ///     ``JSONLimits/highestDepth``.
    /// - Returns: The members in their order.
    /// - Throws: ``JSONError`` with the position of the first fault; a repeated name is found when its object ends.
    package static func members(
        of bytes: [UInt8], maximumDepth: Int = JSONLimits.defaultDepth
    ) throws(JSONError) -> JSONMembers {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
            var cursor = JSONCursor(buffer, maximumDepth: maximumDepth)
            cursor.skipWhitespace()
            guard cursor.index < buffer.count, buffer[cursor.index] == ASCII.openBrace else {
                throw cursor.failure(.notAnObject)
            }
            let members = try cursor.readMembers(of: bytes)
            try cursor.expectEnd()
            return members
        }
    }
}

extension JSONCursor {
    /// Reads the object under the cursor into a table of its members.
    ///
    /// - Parameter document: The array whose bytes the cursor walks over.
    /// - Returns: The members in their order.
    /// - Throws: ``JSONError`` at the first fault.
    mutating func readMembers(of document: [UInt8]) throws(JSONError) -> JSONMembers {
        var spans: [JSONMembers.Span] = []
        spans.reserveCapacity(32)
        let start = index
        try readObject(depth: 0) { (cursor: inout JSONCursor, key) throws(JSONError) in
            let valueStart = cursor.index
            let kind = try cursor.skipValue(depth: 1)
            spans.append(
                JSONMembers.Span(
                    key: key.range, keyIsEscaped: key.unescapedIndex != nil, value: valueStart..<cursor.index,
                    kind: kind))
        }
        return JSONMembers(bytes: document, range: start..<index, spans: spans)
    }

    /// Reads the array under the cursor into slices.
    mutating func readElements(of document: [UInt8]) throws(JSONError) -> [JSONSlice] {
        var elements: [JSONSlice] = []
        try readArray(depth: 0) { (cursor: inout JSONCursor) throws(JSONError) in
            let start = cursor.index
            let kind = try cursor.skipValue(depth: 1)
            elements.append(JSONSlice(bytes: document, range: start..<cursor.index, kind: kind))
        }
        return elements
    }
}

/// Limits of the scanner.
package enum JSONLimits {
    /// Nesting that a document may have unless its reader says otherwise.
    package static let defaultDepth = 64
    /// Nesting beyond which no reader may go: the scanner recurses, so this is what keeps a hostile document off the
    /// end of the stack.
    package static let highestDepth = 512
}
