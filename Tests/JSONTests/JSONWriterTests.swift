import JSON
import Testing

struct JSONWriterTests {
    private func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Commas stand between values and nowhere else")
    func commas() {
        let text = text { writer in
            writer.object { writer in
                writer.memberArray("empty") { _ in }
                writer.memberObject("object") { writer in
                    writer.member("a", "x")
                    writer.member("b", 1)
                    writer.memberObject("c") { _ in }
                }
                writer.memberArray("array") { writer in
                    writer.value(1)
                    writer.array { $0.value("y") }
                    writer.object { $0.member("z", false) }
                    writer.null()
                }
                writer.member("last", true)
            }
        }
        #expect(text == #"{"empty":[],"object":{"a":"x","b":1,"c":{}},"array":[1,["y"],{"z":false},null],"last":true}"#)
    }

    @Test("Every Swift value becomes its JSON")
    func values() {
        let text = text { writer in
            writer.array { writer in
                writer.value(Int.min)
                writer.value(Int32(-7))
                writer.value(Int64.max)
                writer.value(0.5)
                writer.value(Double.nan)
                writer.value(-Double.infinity)
                writer.value(true)
                writer.value("\u{1}")
                writer.value(["a", "b"])
                writer.value(["k": 1] as JSONValue)
                writer.value([:] as JSONObject)
            }
        }
        #expect(
            text == #"[-9223372036854775808,-7,9223372036854775807,0.5,null,null,true,"\u0001",["a","b"],{"k":1},{}]"#)
    }

    @Test("A nil member is skipped or null, as the caller says")
    func optionalMembers() {
        let missing: String? = nil
        let text = text { writer in
            writer.object { writer in
                writer.memberIfPresent("a", missing)
                writer.memberIfPresent("b", "x")
                writer.memberOrNull("c", missing)
                writer.memberOrNull("d", 1)
                writer.memberNull("e")
            }
        }
        #expect(text == #"{"b":"x","c":null,"d":1,"e":null}"#)
    }

    @Test("A checked payload is spliced in byte for byte")
    func splice() throws {
        let payload = Array(#"{ "price" : 1.10, "name":"\u00e9" }"#.utf8)
        let members = try JSONScanner.members(of: payload)
        let price = try #require(members["price"])
        let text = text { writer in
            writer.object { writer in
                writer.memberRaw("payload", payload)
                writer.member("price", price)
                writer.member("again", members)
            }
        }
        let raw = String(decoding: payload, as: UTF8.self)
        #expect(text == #"{"payload":\#(raw),"price":1.10,"again":\#(raw)}"#)
    }

    @Test("A document can be built from parts and sent in pieces")
    func pieces() {
        var writer = JSONWriter()
        var sent: [UInt8] = []
        writer.beginObject()
        writer.name("items")
        writer.beginArray()
        for item in 1...3 {
            writer.value(item)
            sent += writer.takeBytes()
        }
        writer.endArray()
        writer.endObject()
        sent += writer.takeBytes()
        #expect(String(decoding: sent, as: UTF8.self) == #"{"items":[1,2,3]}"#)
        #expect(writer.bytes.isEmpty)
    }

    @Test("An error thrown while writing comes out as it is")
    func typedErrors() {
        #expect(throws: JSONError(.notAnObject, offset: 1)) {
            var writer = JSONWriter()
            try writer.object { (_) throws(JSONError) in throw JSONError(.notAnObject, offset: 1) }
        }
    }
}
