/// One value of a checked document, as the place where it stands.
///
/// It keeps the document alive and reads it when asked. Accessors answer nil when the value is of another kind.
package struct JSONSlice: Sendable {
    private let bytes: [UInt8]
    private let range: Range<Int>
    package let kind: JSONKind

    init(bytes: [UInt8], range: Range<Int>, kind: JSONKind) {
        self.bytes = bytes
        self.range = range
        self.kind = kind
    }

    /// The value as it is written, ready to be spliced into another document.
    package var rawBytes: ArraySlice<UInt8> { bytes[range] }

    /// The string with its escapes resolved.
    package var string: UntrustedText? {
        guard kind == .string else { return nil }
        let content = (range.lowerBound + 1)..<(range.upperBound - 1)
        let isEscaped = bytes.withUnsafeBufferPointer { $0[content].contains(ASCII.backslash) }
        return Self.text(of: bytes, content, isEscaped: isEscaped)
    }

    package var bool: Bool? {
        kind == .bool ? bytes[range.lowerBound] == UInt8(ascii: "t") : nil
    }

    /// The number as a source text that answers what it is exactly.
    package var number: JSONNumber? {
        kind == .number ? JSONNumber(accepted: String(decoding: rawBytes, as: UTF8.self)) : nil
    }

    /// The number if it is mathematically an integer in range, however it is written: `12`, `12.0` and `1.2e1` are
    /// equal.
    package var int64: Int64? { kind == .number ? JSONNumber.int64(rawBytes) : nil }

    /// The nearest double, or nil if the number is beyond the range of doubles.
    package var double: Double? {
        // Most are integers, such as dates, which are exact up to 2⁵³ and need no text; the sign of zero does.
        if let integer = int64, integer != 0, integer.magnitude <= 1 << 53 { return Double(integer) }
        return number?.double
    }

    package var isNull: Bool { kind == .null }

    /// The elements in their order.
    package var array: [JSONSlice]? {
        guard kind == .array else { return nil }
        return rescan { (cursor: inout JSONCursor) throws(JSONError) in try cursor.readElements(of: bytes) }
    }

    /// The members in their order.
    package var object: JSONMembers? {
        guard kind == .object else { return nil }
        return rescan { (cursor: inout JSONCursor) throws(JSONError) in try cursor.readMembers(of: bytes) }
    }

    /// The value with all it holds, as a tree.
    package var value: JSONValue? {
        rescan { (cursor: inout JSONCursor) throws(JSONError) in try cursor.readValue(depth: 0) }
    }

    /// Walks over the value again.
    ///
    /// That cannot fail: the scan that made this slice has accepted these same bytes, at a depth no lower than now.
    private func rescan<Result>(_ read: (inout JSONCursor) throws(JSONError) -> Result) -> Result? {
        bytes.withUnsafeBufferPointer { buffer in
            var cursor = JSONCursor(buffer, at: range.lowerBound, maximumDepth: JSONLimits.highestDepth)
            return try? read(&cursor)
        }
    }

    /// The content of a string or name, whose place excludes the quotes.
    static func text(of bytes: [UInt8], _ range: Range<Int>, isEscaped: Bool) -> UntrustedText {
        bytes.withUnsafeBufferPointer { buffer in
            let written = UnsafeBufferPointer(rebasing: buffer[range])
            return isEscaped
                ? UntrustedText(decoding: JSONText.unescape(written)) : UntrustedText(decoding: written)
        }
    }
}

/// The members of one checked object, in their order, as places in the document they came from.
///
/// A collection of name and value; names are unique. Looking a name up compares it with each in turn: meant for asking
/// a few names of an object, which beats building a dictionary of it.
package struct JSONMembers: Sendable {
    /// Where one member stands.
    struct Span: Sendable {
        /// The name between its quotes.
        let key: Range<Int>
        let keyIsEscaped: Bool
        let value: Range<Int>
        let kind: JSONKind
    }

    /// The whole document that was scanned, of which the object may be a part.
    package let bytes: [UInt8]
    let range: Range<Int>
    let spans: [Span]

    /// The object as it is written, braces included.
    package var rawBytes: ArraySlice<UInt8> { bytes[range] }

    /// The names, with escapes resolved.
    package var keys: [UntrustedText] { spans.map(key) }

    /// The value of the member with this name, or nil if there is none.
    ///
    /// Names are compared byte by byte, without Unicode normalisation. `key`: a name of ours.
    package subscript(_ key: String) -> JSONSlice? {
        var wanted = key
        let found = wanted.withUTF8 { wanted in
            bytes.withUnsafeBufferPointer { bytes in
                spans.withUnsafeBufferPointer { spans in
                    spans.firstIndex { span in
                        guard span.keyIsEscaped || span.key.count == wanted.count else { return false }
                        let written = UnsafeBufferPointer(rebasing: bytes[span.key])
                        return span.keyIsEscaped
                            ? JSONText.unescape(written).elementsEqual(wanted) : written.elementsEqual(wanted)
                    }
                }
            }
        }
        return found.map { slice(spans[$0]) }
    }

    private func key(_ span: Span) -> UntrustedText {
        JSONSlice.text(of: bytes, span.key, isEscaped: span.keyIsEscaped)
    }

    private func slice(_ span: Span) -> JSONSlice {
        JSONSlice(bytes: bytes, range: span.value, kind: span.kind)
    }
}

extension JSONMembers: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { spans.count }

    package subscript(position: Int) -> (key: UntrustedText, value: JSONSlice) {
        (key(spans[position]), slice(spans[position]))
    }
}
