import JSON
import Testing

struct JSONDuplicateTests {
    private func check(_ text: String) throws { _ = try JSONScanner.members(of: Array(text.utf8)) }

    @Test(
        "A repeated name is refused at every level, however it is written",
        arguments: [
            (#"{"a":1,"a":2}"#, "a", 7), (#"{"a":1,"b":2,"a":1}"#, "a", 13), (#"{"x":{"a":1,"a":2}}"#, "a", 12),
            (#"{"x":[0,{"a":1,"a":2}]}"#, "a", 15), (#"{"a":1,"\u0061":2}"#, "a", 7), (#"{"\u0061":1,"a":2}"#, "a", 12),
            (#"{"\u0061":1,"\u0061":2}"#, "a", 12), (#"{"":1,"":2}"#, "", 6), (#"{"\/":1,"/":2}"#, "/", 8),
            (#"{"😀":1,"\ud83d\ude00":2}"#, "😀", 10), (#"{"a":{"b":1},"c":[{"b":1}],"a":{}}"#, "a", 27),
        ])
    func duplicates(_ text: String, _ name: String, _ offset: Int) {
        #expect(throws: JSONError(.duplicateKey(UntrustedText(name)), offset: offset)) { try check(text) }
        #expect(throws: JSONError(.duplicateKey(UntrustedText(name)), offset: offset)) { try JSONValue(parsing: text) }
    }

    @Test("The same name in different objects is no repetition")
    func namesOfDifferentObjects() throws {
        try check(#"{"a":{"a":{"a":1},"b":{"a":1}},"b":[{"a":1},{"a":1}],"c":{"\u0061":1}}"#)
    }

    @Test("Names that differ only in length or in one byte are different")
    func similarNames() throws {
        let names =
            (0...40).map { String(repeating: "a", count: $0) }
            + (0..<40).map { String(repeating: "a", count: $0) + "b" }
        try check("{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}")
    }

    /// Objects beyond the size up to which names are compared pair by pair take another way.
    @Test("The first repetition is reported in objects of every size", arguments: [2, 63, 64, 65, 66, 200])
    func firstRepetition(_ count: Int) {
        var names = (0..<count).map { "name\($0)" }
        names[count - 1] = names[0]
        let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let offset = text.utf8.count - "\"name0\":0}".utf8.count
        #expect(throws: JSONError(.duplicateKey("name0"), offset: offset)) { try check(text) }
        // A later pair does not hide it, whichever sorts first.
        let second = text.dropLast() + ",\"name1\":0,\"name1\":0}"
        if count > 2 {
            #expect(throws: JSONError(.duplicateKey("name0"), offset: offset)) { try check(String(second)) }
        }
    }

    @Test("A hundred thousand names in one object are checked", arguments: [false, true])
    func manyNames(_ escaped: Bool) throws {
        let names = (0..<100_000).map { (escaped ? #"\u0070"# : "p") + "roperty\($0)" }
        let body = names.map { "\"\($0)\":0" }.joined(separator: ",")
        let members = try JSONScanner.members(of: Array("{\(body)}".utf8))
        #expect(members.count == names.count)
        #expect(members["property99999"]?.int64 == 0)
        #expect(throws: JSONError(.duplicateKey("property7"), offset: body.utf8.count + 2)) {
            try check(#"{\#(body),"property7":0}"#)
        }
    }

    @Test("An object of any value tree keeps each name once as well")
    func valueObjects() throws {
        var object: JSONObject = ["a": 1, "b": 2, "a": 3]
        #expect(object.keys == ["a", "b"])
        #expect(object["a"] == 3)
        object["b"] = nil
        object["c"] = true
        #expect(JSONValue.object(object).description == #"{"a":3,"c":true}"#)
        object["\u{E9}"] = 1
        object["e\u{301}"] = 2
        #expect(object.members.count == 4)
    }
}
