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
    package var keys: [String] { spans.map(key) }

    /// The value of the member with this name, or nil if there is none.
    ///
    /// Names are compared byte by byte, without Unicode normalisation.
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

    private func key(_ span: Span) -> String {
        JSONSlice.text(of: bytes, span.key, isEscaped: span.keyIsEscaped)
    }

    private func slice(_ span: Span) -> JSONSlice {
        JSONSlice(bytes: bytes, range: span.value, kind: span.kind)
    }
}

extension JSONMembers: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { spans.count }

    package subscript(position: Int) -> (key: String, value: JSONSlice) {
        (key(spans[position]), slice(spans[position]))
    }
}
