/// Why a document is not the strict JSON that was asked for, and where.
///
/// The offset counts bytes from the start of the scanned array, so that a caller can point at the place without being
/// shown its content.
package struct JSONError: Error, Sendable, Equatable {
    /// What is wrong.
    package enum Reason: Sendable, Equatable {
        /// The document ends inside a value, or holds nothing but white space.
        case unexpectedEnd
        /// The byte cannot stand here by the grammar.
        case unexpectedCharacter
        /// A number breaks the grammar, as `01`, `1.` or `+1` do.
        case invalidNumber
        /// A backslash is followed by something other than the eight short escapes or `u` and four hexadecimal digits.
        case invalidEscape
        /// An escaped UTF-16 surrogate has no partner.
        case loneSurrogate
        /// A string holds an unescaped character below U+0020.
        case controlCharacterInString
        /// A string is not valid UTF-8 (RFC 3629).
        case invalidUTF8
        /// An object names the same member twice; the associated value is the name with its escapes resolved.
        case duplicateKey(UntrustedText)
        /// Arrays and objects are nested deeper than the caller allows.
        case depthExceeded
        /// Something other than white space follows the value.
        case trailingData
        /// The top-level value is not an object where one is required.
        case notAnObject
    }

    package let reason: Reason
    /// Position of the offending byte; equal to the document's length when it ends too early.
    package let offset: Int

    package init(_ reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    /// One English phrase such as `unexpected character at byte 17`.
    package var description: String { "\(reason) at byte \(offset)" }
}

extension JSONError.Reason: CustomStringConvertible {
    /// The phrase without the position.
    ///
    /// A duplicate name is cut and escaped, because it comes from outside.
    package var description: String {
        switch self {
        case .unexpectedEnd: "unexpected end of the document"
        case .unexpectedCharacter: "unexpected character"
        case .invalidNumber: "invalid number"
        case .invalidEscape: "invalid escape sequence"
        case .loneSurrogate: "lone surrogate"
        case .controlCharacterInString: "unescaped control character in a string"
        case .invalidUTF8: "invalid UTF-8"
        case .duplicateKey(let key): "duplicate key \(key)"
        case .depthExceeded: "nesting too deep"
        case .trailingData: "data after the end of the document"
        case .notAnObject: "the document is not an object"
        }
    }
}
