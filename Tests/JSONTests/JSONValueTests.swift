import JSON
import Testing

struct JSONValueTests {
    @Test("A tree can be written as a literal, read back and asked")
    func literals() throws {
        let value: JSONValue = ["a": [1, -2.5, "x", nil, true], "b": ["c": "d\("e")"], "n": nil]
        #expect(value["a"]?[0]?.int64 == 1)
        #expect(value["a"]?[1]?.double == -2.5)
        #expect(value["a"]?[2]?.string == "x")
        #expect(value["a"]?[3]?.isNull == true)
        #expect(value["a"]?[4]?.bool == true)
        #expect(value["a"]?[5] == nil)
        #expect(value["a"]?[-1] == nil)
        #expect(value["a"]?["b"] == nil)
        #expect(value["b"]?["c"]?.string == "de")
        #expect(value["b"]?.object?.keys == ["c"])
        #expect(value["b"]?.array == nil)
        #expect(value["x"] == nil)
        #expect(try JSONValue(parsing: value.serialized()) == value)
    }

    @Test("Members keep their order unless they are asked to be sorted")
    func order() throws {
        let value = try JSONValue(parsing: #"{"b":1,"a":{"d":[],"c":{}},"é":0,"e":0}"#)
        #expect(value.serializedString() == #"{"b":1,"a":{"d":[],"c":{}},"é":0,"e":0}"#)
        #expect(value.serializedString(sortedKeys: true) == #"{"a":{"c":{},"d":[]},"b":1,"e":0,"é":0}"#)
        #expect(value != (try JSONValue(parsing: #"{"a":{"d":[],"c":{}},"b":1,"é":0,"e":0}"#)))
    }

    @Test("The pretty form gives each value a line")
    func pretty() {
        let value: JSONValue = ["a": [1, ["b": "c"]], "d": [:], "e": []]
        #expect(
            value.serializedString(pretty: true) == """
                {
                  "a": [
                    1,
                    {
                      "b": "c"
                    }
                  ],
                  "d": {},
                  "e": []
                }
                """)
    }

    @Test("Every character survives the way out and back")
    func strings() throws {
        let ascii = (0..<128).compactMap(Unicode.Scalar.init).map(Character.init)
        let samples = [
            String(ascii), "", "\u{2028}\u{2029}", "😀é\u{10FFFF}", "e\u{301}", "\u{FFFD}", "\r\n", "\"\\/", "</script>",
        ]
        for sample in samples {
            let text = JSONValue.string(sample).serializedString()
            let back = try JSONValue(parsing: text).string
            #expect(back.map { Array($0.utf8) } == Array(sample.utf8))
        }
    }

    @Test("Only what must be escaped is escaped, in the short form where there is one")
    func escapes() {
        #expect(
            JSONValue.string("\"\\/\u{8}\u{C}\n\r\t\u{0}\u{B}\u{1F}\u{7F}\u{2028}é").serializedString()
                == "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u000b\\u001f\u{7F}\u{2028}é\"")
    }

    @Test("Escapes mean their characters")
    func unescaping() throws {
        #expect(
            try JSONValue(parsing: #""\"\\\/\b\f\n\r\t\u0041\u00E9\u20AC\uD83D\uDE00\u0000""#).string
                == "\"\\/\u{8}\u{C}\n\r\tAé€😀\u{0}")
    }
}
