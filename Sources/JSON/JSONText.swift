/// Turns strings into their JSON form and back.
enum JSONText {
    /// Resolves the escapes of a string that a ``JSONCursor`` has accepted.
    ///
    /// - Parameter written: The bytes between the quotes.
    /// - Returns: The text in UTF-8.
    static func unescape(_ written: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(written.count)
        var index = 0
        while index < written.count {
            guard written[index] == ASCII.backslash else {
                result.append(written[index])
                index += 1
                continue
            }
            let letter = written[index + 1]
            index += 2
            switch letter {
            case UInt8(ascii: "b"): result.append(ASCII.backspace)
            case UInt8(ascii: "f"): result.append(ASCII.formFeed)
            case UInt8(ascii: "n"): result.append(ASCII.lineFeed)
            case UInt8(ascii: "r"): result.append(ASCII.carriageReturn)
            case UInt8(ascii: "t"): result.append(ASCII.tab)
            case UInt8(ascii: "u"): appendUnicodeEscape(of: written, at: &index, to: &result)
            default: result.append(letter)
            }
        }
        return result
    }

    /// Resolves the four digits at `index`, and the low surrogate's escape after them if they are a high surrogate.
    private static func appendUnicodeEscape(
        of written: UnsafeBufferPointer<UInt8>, at index: inout Int, to result: inout [UInt8]
    ) {
        func readUnit() -> UInt32 {
            defer { index += 4 }
            return written[index..<(index + 4)].reduce(0) { $0 << 4 | (ASCII.hexadecimalValue($1) ?? 0) }
        }
        var code = readUnit()
        if 0xD800...0xDBFF ~= code {
            index += 2
            code = 0x1_0000 + (code - 0xD800) << 10 + (readUnit() - 0xDC00)
        }
        // The cursor has refused lone surrogates, so every code that comes here is a scalar.
        if let scalar = Unicode.Scalar(code) {
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }

    /// Appends the string with its quotes; only what must be escaped is.
    ///
    /// Source: RFC 8259, section 7.
    static func append(_ string: String, to output: inout [UInt8]) {
        var string = string
        string.withUTF8 { text in
            output.append(ASCII.quote)
            var start = 0
            for index in text.indices where mustEscape(text[index]) {
                output.append(contentsOf: text[start..<index])
                appendEscape(of: text[index], to: &output)
                start = index + 1
            }
            output.append(contentsOf: text[start...])
            output.append(ASCII.quote)
        }
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < ASCII.space || byte == ASCII.quote || byte == ASCII.backslash
    }

    private static func appendEscape(of byte: UInt8, to output: inout [UInt8]) {
        output.append(ASCII.backslash)
        switch byte {
        case ASCII.quote, ASCII.backslash: output.append(byte)
        case ASCII.backspace: output.append(UInt8(ascii: "b"))
        case ASCII.formFeed: output.append(UInt8(ascii: "f"))
        case ASCII.lineFeed: output.append(UInt8(ascii: "n"))
        case ASCII.carriageReturn: output.append(UInt8(ascii: "r"))
        case ASCII.tab: output.append(UInt8(ascii: "t"))
        default:
            output.append(contentsOf: "u00".utf8)
            output.append(byte < 0x10 ? ASCII.zero : UInt8(ascii: "1"))
            output.append(contentsOf: String(byte & 0x0F, radix: 16).utf8)
        }
    }
}

extension JSONCursor {
    /// Moves past the string under the cursor, closing quote included.
    ///
    /// - Returns: Whether it holds escape sequences.
    mutating func skipString() throws(JSONError) -> Bool {
        index += 1
        var isEscaped = false
        while true {
            skipPlainText()
            guard index < bytes.count else { throw failure(.unexpectedEnd) }
            switch bytes[index] {
            case ASCII.quote:
                index += 1
                return isEscaped
            case ASCII.backslash:
                isEscaped = true
                try skipEscape()
            case ..<ASCII.space:
                throw failure(.controlCharacterInString)
            case ..<0x80:
                index += 1
            default:
                try skipMultibyteCharacter()
            }
        }
    }

    /// Moves over ASCII that needs no look, eight bytes at a time; most of what we read is long base64 text.
    private mutating func skipPlainText() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits = ones &* 0x80
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= raw.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quotes = word ^ ones &* UInt64(ASCII.quote)
            let backslashes = word ^ ones &* UInt64(ASCII.backslash)
            // A byte's high bit is set in `marks` where it is a quote, a backslash, a control character or not ASCII.
            // Borrows can only make false marks above a true one, and only the lowest mark is used.
            let marks =
                (((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
                    | ((word &- ones &* UInt64(ASCII.space)) & ~word) | word) & highBits
            guard marks == 0 else {
                index += marks.trailingZeroBitCount / 8
                return
            }
            index += 8
        }
    }

    private mutating func skipEscape() throws(JSONError) {
        guard index + 1 < bytes.count else { throw JSONError(.unexpectedEnd, offset: bytes.count) }
        switch bytes[index + 1] {
        case ASCII.quote, ASCII.backslash, ASCII.slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        case UInt8(ascii: "u"):
            try skipUnicodeEscape()
        default:
            throw failure(.invalidEscape)
        }
    }

    private mutating func skipUnicodeEscape() throws(JSONError) {
        let start = index
        let unit = try readUTF16Escape()
        guard 0xD800...0xDFFF ~= unit else { return }
        // Only a high surrogate may come first, and a low one must follow at once.
        guard unit < 0xDC00, index + 1 < bytes.count, bytes[index] == ASCII.backslash,
            bytes[index + 1] == UInt8(ascii: "u"), 0xDC00...0xDFFF ~= (try readUTF16Escape())
        else { throw JSONError(.loneSurrogate, offset: start) }
    }

    /// Reads `\uXXXX`, whose backslash is under the cursor.
    private mutating func readUTF16Escape() throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for position in (index + 2)..<(index + 6) {
            guard position < bytes.count else { throw JSONError(.unexpectedEnd, offset: bytes.count) }
            guard let digit = ASCII.hexadecimalValue(bytes[position]) else { throw failure(.invalidEscape) }
            unit = unit << 4 | digit
        }
        index += 6
        return unit
    }

    /// Moves past a character of two to four bytes: no overlong form, no surrogate, nothing above U+10FFFF.
    ///
    /// Source: RFC 3629, section 4.
    private mutating func skipMultibyteCharacter() throws(JSONError) {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[index] {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF:
            length = 3
            if bytes[index] == 0xE0 { second = 0xA0...0xBF }
            if bytes[index] == 0xED { second = 0x80...0x9F }
        case 0xF0...0xF4:
            length = 4
            if bytes[index] == 0xF0 { second = 0x90...0xBF }
            if bytes[index] == 0xF4 { second = 0x80...0x8F }
        default: throw failure(.invalidUTF8)
        }
        guard index + length <= bytes.count, second ~= bytes[index + 1],
            bytes[(index + 2)..<(index + length)].allSatisfy({ 0x80...0xBF ~= $0 })
        else { throw failure(.invalidUTF8) }
        index += length
    }
}
