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
    package static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }

    /// Decodes text given as UTF-8; see the other form.
    package static func decode(_ utf8: String.UTF8View) -> [UInt8]? {
        var text = String(utf8)
        return text.withUTF8 { text in
            guard text.count % 4 == 0 else { return nil }
            let paddingCount = text.suffix(2).reversed().prefix { $0 == padding }.count
            return Base64Alphabet.standard.decode(UnsafeBufferPointer(rebasing: text.dropLast(paddingCount)))
        }
    }
}

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

/// One of the two alphabets of Base64, with the loops that both share.
///
/// Source: RFC 4648, sections 4 and 5.
struct Base64Alphabet: Sendable {
    /// Stands in the table for a byte that is no digit: its top bit is set, and no digit's value has that.
    private static let invalid: UInt8 = 0xFF

    private let digits: [UInt8]
    /// The value of each byte as a digit.
    private let values: [UInt8]

    static let standard = Base64Alphabet(last: "+/")
    static let url = Base64Alphabet(last: "-_")

    private init(last: String) {
        digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        var values = [UInt8](repeating: Self.invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        self.values = values
    }

    /// Writes digits without padding.
    func encode(_ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) {
        digits.withUnsafeBufferPointer { digits in
            var index = 0
            var end = 0
            while index + 3 <= bytes.count {
                let bits = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
                output[end] = digits[bits >> 18]
                output[end + 1] = digits[bits >> 12 & 0x3F]
                output[end + 2] = digits[bits >> 6 & 0x3F]
                output[end + 3] = digits[bits & 0x3F]
                index += 3
                end += 4
            }
            guard index < bytes.count else { return }
            let second = index + 1 < bytes.count ? Int(bytes[index + 1]) : nil
            let bits = Int(bytes[index]) << 16 | (second ?? 0) << 8
            output[end] = digits[bits >> 18]
            output[end + 1] = digits[bits >> 12 & 0x3F]
            if second != nil { output[end + 2] = digits[bits >> 6 & 0x3F] }
        }
    }

    /// Number of digits, padding left out, that encode so many bytes.
    static func digitCount(ofByteCount count: Int) -> Int { (count * 4 + 2) / 3 }

    /// Reads digits without padding.
    ///
    /// - Returns: The bytes, or nil for an impossible length, a byte that is no digit, or left-over bits that are not
    ///   zero.
    func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let tailCount = text.count % 4
        guard tailCount != 1 else { return nil }
        let count = text.count / 4 * 3 + max(0, tailCount - 1)
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { output, initializedCount in
            isValid = values.withUnsafeBufferPointer { Self.decode(text, into: output, values: $0) }
            initializedCount = isValid ? count : 0
        }
        return isValid ? bytes : nil
    }

    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>,
        values: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        // Collects the bits of all values, so that one look at the end finds a byte that is no digit.
        var seen: UInt8 = 0
        var index = 0
        var end = 0
        while index + 4 <= text.count {
            let first = values[Int(text[index])]
            let second = values[Int(text[index + 1])]
            let third = values[Int(text[index + 2])]
            let fourth = values[Int(text[index + 3])]
            seen |= first | second | third | fourth
            output[end] = first << 2 | second >> 4
            output[end + 1] = second << 4 | third >> 2
            output[end + 2] = third << 6 | fourth
            index += 4
            end += 3
        }
        var leftOver: UInt8 = 0
        if index < text.count {
            let first = values[Int(text[index])]
            let second = values[Int(text[index + 1])]
            seen |= first | second
            output[end] = first << 2 | second >> 4
            leftOver = second << 4
            if index + 2 < text.count {
                let third = values[Int(text[index + 2])]
                seen |= third
                output[end + 1] = second << 4 | third >> 2
                leftOver = third << 6
            }
        }
        return seen & 0x80 == 0 && leftOver == 0
    }
}
