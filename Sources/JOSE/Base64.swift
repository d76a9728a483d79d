/// Base64 with padding, as `x5c` uses it (RFC 4648, section 4; RFC 7515, section 4.1.6).
package enum Base64 {
    private static let padding = UInt8(ascii: "=")

    /// Encodes bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        let count = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: count) { output in
            let digitCount = Base64Alphabet.digitCount(ofByteCount: bytes.count)
            bytes.withUnsafeBufferPointer { Base64Alphabet.standard.encode($0, into: output) }
            output[digitCount..<count].update(repeating: padding)
            return count
        }
    }

    /// Decodes strictly: full padding, no white space, no digits of the other alphabet, no left-over bits.
    ///
    /// - Parameter text: The encoded text.
    /// - Returns: The bytes, or nil if the text is anything else.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text in
            guard text.count % 4 == 0 else { return nil }
            let paddingCount = text.suffix(2).reversed().prefix { $0 == padding }.count
            return Base64Alphabet.standard.decode(UnsafeBufferPointer(rebasing: text.dropLast(paddingCount)))
        }
    }
}
