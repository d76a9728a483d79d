/// Base64url without padding, as JOSE uses it (RFC 4648, section 5; RFC 7515, section 2).
package enum Base64URL {
    /// Encodes bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: Base64Alphabet.digitCount(ofByteCount: bytes.count)) { output in
            bytes.withUnsafeBufferPointer { Base64Alphabet.url.encode($0, into: output) }
            return Base64Alphabet.digitCount(ofByteCount: bytes.count)
        }
    }

    /// Encodes bytes into ASCII.
    package static func encodeBytes(_ bytes: [UInt8]) -> [UInt8] {
        let count = Base64Alphabet.digitCount(ofByteCount: bytes.count)
        return [UInt8](unsafeUninitializedCapacity: count) { output, initializedCount in
            bytes.withUnsafeBufferPointer { Base64Alphabet.url.encode($0, into: output) }
            initializedCount = count
        }
    }

    /// Decodes strictly: no padding, no white space, no digits of the other alphabet, no left-over bits.
    ///
    /// - Parameter text: The ASCII digits.
    /// - Returns: The bytes, or nil if the text is anything else.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        text.withUnsafeBufferPointer { Base64Alphabet.url.decode($0) }
    }

    /// Decodes a string; see the other form.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { Base64Alphabet.url.decode($0) }
    }
}
