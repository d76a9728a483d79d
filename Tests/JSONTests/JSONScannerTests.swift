import JSON
import Testing

struct JSONScannerTests {
    private func members(_ text: String) throws -> JSONMembers { try JSONScanner.members(of: Array(text.utf8)) }

    @Test("Members are found in their order with their exact text")
    func membersInOrder() throws {
        let document = #" { "b" : "x" ,"a":[1, 2],"c":{"d" : null}, "e":-1.50 , "f":true } "#
        let members = try members(document)
        #expect(members.keys == ["b", "a", "c", "e", "f"])
        #expect(
            members.map { String(decoding: $0.value.rawBytes, as: UTF8.self) } == [
                #""x""#, "[1, 2]", #"{"d" : null}"#, "-1.50", "true",
            ])
        #expect(members.map(\.value.kind) == [.string, .array, .object, .number, .bool])
        #expect(members.bytes == Array(document.utf8))
        #expect(String(decoding: members.rawBytes, as: UTF8.self) == document.dropFirst().dropLast())
        #expect(members["missing"] == nil)
    }

    @Test("An empty object has no members")
    func emptyObject() throws {
        #expect(try members("{ }").isEmpty)
    }

    @Test("Names written with escapes are found by what they mean")
    func escapedNames() throws {
        let members = try members(#"{"\u0061\/\ud83d\ude00":1,"plain":2,"":3}"#)
        #expect(members.keys == ["a/😀", "plain", ""])
        #expect(members["a/😀"]?.int64 == 1)
        #expect(members[""]?.int64 == 3)
    }

    @Test("Names are told apart by their bytes, not by canonical equivalence")
    func namesAreBytes() throws {
        let members = try members("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(members["\u{E9}"]?.int64 == 1)
        #expect(members["e\u{301}"]?.int64 == 2)
    }

    @Test("A slice answers only to its own kind")
    func accessors() throws {
        let members = try members(
            #"{"s":"a\n\"\u00e9","n":12,"t":true,"f":false,"z":null,"a":["x",[2]],"o":{"p":{"q":7}}}"#)
        #expect(members["s"]?.string == "a\n\"é")
        #expect(members["s"]?.int64 == nil)
        #expect(members["n"]?.int64 == 12)
        #expect(members["n"]?.double == 12)
        #expect(members["n"]?.number?.text == "12")
        #expect(members["n"]?.string == nil)
        #expect(members["n"]?.bool == nil)
        #expect(members["t"]?.bool == true)
        #expect(members["f"]?.bool == false)
        #expect(members["z"]?.isNull == true)
        #expect(members["z"]?.array == nil)
        #expect(members["a"]?.array?.first?.string == "x")
        #expect(members["a"]?.array?.last?.array?.first?.int64 == 2)
        #expect(members["a"]?.object == nil)
        #expect(members["o"]?.object?["p"]?.object?["q"]?.int64 == 7)
        #expect(members["o"]?.value == ["p": ["q": 7]])
    }

    @Test("The top level must be an object", arguments: ["[]", "1", "\"{}\"", "null", " [{}]", "x"])
    func topLevel(_ text: String) {
        let offset = text.hasPrefix(" ") ? 1 : 0
        #expect(throws: JSONError(.notAnObject, offset: offset)) { try members(text) }
    }

    @Test("What follows the object is refused, and so is a document that never starts")
    func ends() {
        #expect(throws: JSONError(.trailingData, offset: 3)) { try members("{} x") }
        #expect(throws: JSONError(.unexpectedEnd, offset: 1)) { try members(" ") }
    }

    @Test("A fault deep inside a value that nobody reads is still a fault")
    func faultsInUnreadValues() {
        #expect(throws: JSONError(.invalidNumber, offset: 12)) { try members(#"{"a":[{"b":-}]}"#) }
        #expect(throws: JSONError(.loneSurrogate, offset: 13)) { try members(#"{"a":[{"b":["\ud800"]}]}"#) }
    }

    @Test("An error says what is wrong and where, and cuts a long name")
    func errorDescription() {
        #expect("\(JSONError(.unexpectedCharacter, offset: 17))" == "unexpected character at byte 17")
        #expect("\(JSONError(.duplicateKey("a\nb"), offset: 3))" == #"duplicate key "a\nb" at byte 3"#)
        #expect(
            JSONError(.duplicateKey(UntrustedText(String(repeating: "x", count: 500))), offset: 0).description.count
                < 100)
    }
}
