import JSON
import Testing

/// What is a document and what is not, one rule of the grammar at a time.
struct JSONGrammarTests {
    @Test(
        "Valid documents are accepted",
        arguments: [
            "null", "true", "false", "0", "-0", "-1", "123", "0.5", "1e5", "1E+5", "1e-05", "-0.0e0", "\"\"", "\"a\"",
            "[]", "{}", "[[]]",
            "[{}]", " \t\r\n[ 1 , 2 ] \n", "{\"\":0}", "{\"a\":{\"a\":1}}", "[0,\"\",null,true,false,{},[]]",
            #""\"\\\/\b\f\n\r\t""#,
            #""\u0000""#, #""\u00e9\u00E9""#, #""\ud83d\ude00""#, #""\uDBFF\uDFFF""#, "\"\u{7F}\"",
            "\"\u{2028}\u{2029}\"",
            "\"\u{FEFF}\"", "\"\u{FFFF}\u{10FFFF}\"", "\"é\u{800}\u{D7FF}\u{E000}\u{10000}\"",
            "123456789012345678901234567890", "1e999999",
            #"{"a":1,"A":2}"#, #"{"é":1,"e\#u{301}":2}"#, "\"[1,2\"",
        ])
    func valid(_ text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(try JSONValue(parsing: value.serialized()) == value)
    }

    @Test(
        "Invalid documents are refused with the reason and the place",
        arguments: [
            ("", .unexpectedEnd, 0), (" \n", .unexpectedEnd, 2), ("[", .unexpectedEnd, 1), ("{", .unexpectedEnd, 1),
            ("\"", .unexpectedEnd, 1),
            ("\"a", .unexpectedEnd, 2), ("\"\\", .unexpectedEnd, 2), ("\"\\u12", .unexpectedEnd, 5),
            ("tru", .unexpectedEnd, 3),
            ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3),
            ("[1", .unexpectedEnd, 2),
            ("{\"a\"", .unexpectedEnd, 4), ("{\"a\":", .unexpectedEnd, 5), ("{\"a\":1", .unexpectedEnd, 6),
            ("[1,", .unexpectedEnd, 3),
            ("]", .unexpectedCharacter, 0), ("[1,]", .unexpectedCharacter, 3), ("[,1]", .unexpectedCharacter, 1),
            ("[1,,2]", .unexpectedCharacter, 3), ("[1 2]", .unexpectedCharacter, 3), ("[1}", .unexpectedCharacter, 2),
            ("{\"a\":1,}", .unexpectedCharacter, 7), ("{,}", .unexpectedCharacter, 1),
            ("{\"a\" 1}", .unexpectedCharacter, 5),
            ("{a:1}", .unexpectedCharacter, 1), ("{'a':1}", .unexpectedCharacter, 1),
            ("{1:1}", .unexpectedCharacter, 1),
            ("{\"a\":1]", .unexpectedCharacter, 6), ("{\"a\"::1}", .unexpectedCharacter, 5),
            ("{\"a\":}", .unexpectedCharacter, 5),
            ("True", .unexpectedCharacter, 0), ("trUe", .unexpectedCharacter, 2), ("nul1", .unexpectedCharacter, 3),
            ("NaN", .unexpectedCharacter, 0), ("Infinity", .unexpectedCharacter, 0), ("+1", .unexpectedCharacter, 0),
            (".5", .unexpectedCharacter, 0), ("'a'", .unexpectedCharacter, 0), ("/**/1", .unexpectedCharacter, 0),
            ("[1,#\n2]", .unexpectedCharacter, 3), ("\u{FEFF}[]", .unexpectedCharacter, 0),
            ("\u{A0}1", .unexpectedCharacter, 0),
            ("\u{0C}1", .unexpectedCharacter, 0), ("\u{0}", .unexpectedCharacter, 0),
            ("01", .invalidNumber, 1), ("-01", .invalidNumber, 2), ("00", .invalidNumber, 1), ("-a", .invalidNumber, 1),
            ("1.e5", .invalidNumber, 2),
            ("1e5.5", .trailingData, 3), ("0x10", .trailingData, 1), ("1_000", .trailingData, 1),
            ("1ea", .invalidNumber, 2),
            ("-Infinity", .invalidNumber, 1), ("[1.]", .invalidNumber, 3),
            ("1 2", .trailingData, 2), ("[]]", .trailingData, 2), ("{}{}", .trailingData, 2),
            ("null,", .trailingData, 4),
            ("\"a\"\"b\"", .trailingData, 3), ("[] //", .trailingData, 3), ("1\u{0}", .trailingData, 1),
            (#""\a""#, .invalidEscape, 1), (#""\'""#, .invalidEscape, 1), (#""\x41""#, .invalidEscape, 1),
            (#""\u12G4""#, .invalidEscape, 1),
            (#""\U0041""#, .invalidEscape, 1), (#""\u{41}""#, .invalidEscape, 1), (#""\u-123""#, .invalidEscape, 1),
            (#""\ud800""#, .loneSurrogate, 1), (#""\udc00""#, .loneSurrogate, 1), (#""a\ud800b""#, .loneSurrogate, 2),
            (#""\ud800\n""#, .loneSurrogate, 1), (#""\ud800\ud800""#, .loneSurrogate, 1),
            (#""\ud800\u0041""#, .loneSurrogate, 1),
            (#""\udc00\ud800""#, .loneSurrogate, 1),
            ("\"\n\"", .controlCharacterInString, 1), ("\"a\tb\"", .controlCharacterInString, 2),
            ("\"\u{0}\"", .controlCharacterInString, 1),
            ("\"12345678\u{1F}\"", .controlCharacterInString, 9),
        ] as [(String, JSONError.Reason, Int)])
    func invalid(_ text: String, _ reason: JSONError.Reason, _ offset: Int) {
        #expect(throws: JSONError(reason, offset: offset)) { try JSONValue(parsing: text) }
        // The scanner walks with the same cursor, so the same document as a member's value is wrong in the same way.
        let member = Array("{\"value\":".utf8) + Array(text.utf8)
        #expect(throws: JSONError.self) { try JSONScanner.members(of: member + Array("}".utf8)) }
    }

    @Test(
        "Strings that are not UTF-8 are refused",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82],
            [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF0, 0x90, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func invalidUTF8(_ content: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        for padding in [0, 7, 8, 9] {
            let text = [quote] + [UInt8](repeating: UInt8(ascii: "x"), count: padding) + content + [quote]
            #expect(throws: JSONError(.invalidUTF8, offset: padding + 1)) { try JSONValue(parsing: text) }
        }
        #expect(throws: JSONError(.invalidUTF8, offset: 1)) { try JSONValue(parsing: [quote] + content) }
        #expect(throws: JSONError(.unexpectedCharacter, offset: 0)) { try JSONValue(parsing: content) }
    }

    @Test("Every special character is seen at every position of the eight-byte steps")
    func specialCharacterAtEveryPosition() throws {
        for length in 0..<40 {
            for position in 0..<max(length, 1) where length > 0 {
                var text = [UInt8](repeating: UInt8(ascii: "~"), count: length)
                text[position] = 0x1F
                #expect(throws: JSONError(.controlCharacterInString, offset: position + 1)) {
                    try JSONValue(parsing: [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")])
                }
                text[position] = UInt8(ascii: "\"")
                #expect(throws: JSONError.self) {
                    try JSONValue(parsing: [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")])
                }
            }
            let plain = String(repeating: "~", count: length)
            #expect(try JSONValue(parsing: "\"\(plain)\"") == .string(plain))
        }
    }

    @Test("Nesting is allowed up to the limit and not beyond", arguments: [1, 2, 64, 512])
    func depth(_ limit: Int) throws {
        let arrays = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        let objects = { (depth: Int) in
            String(repeating: "{\"a\":", count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
        }
        _ = try JSONValue(parsing: arrays(limit), maximumDepth: limit)
        _ = try JSONScanner.members(of: Array(objects(limit).utf8), maximumDepth: limit)
        #expect(throws: JSONError(.depthExceeded, offset: limit)) {
            try JSONValue(parsing: arrays(limit + 1), maximumDepth: limit)
        }
        #expect(throws: JSONError(.depthExceeded, offset: limit * 5)) {
            try JSONScanner.members(of: Array(objects(limit + 1).utf8), maximumDepth: limit)
        }
    }

    @Test("No caller can raise the depth so far that the stack runs out")
    func depthIsCapped() {
        let hostile = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        #expect(throws: JSONError(.depthExceeded, offset: JSONLimits.highestDepth)) {
            try JSONValue(parsing: hostile, maximumDepth: .max)
        }
    }
}
