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
