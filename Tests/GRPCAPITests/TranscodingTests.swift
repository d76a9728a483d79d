import JSON
import Testing

@testable import GRPCAPI

/// Every rule by which messages and JSON become each other.
struct TranscodingTests {
    /// The bytes that any implementation of Protocol Buffers makes of these; they were taken from one.
    @Test(arguments: [
        ("Consumption", #"{"transactionId":"7"}"#, "0a0137"),
        ("Consumption", #"{"environment":"Sandbox"}"#, "1002"),
        ("Consumption", #"{"deadline":"2026-01-31T12:00:00.250Z"}"#, "1a0b08c0ddf7cb061080e59a77"),
        // What is false or zero is told from what is left out.
        ("Consumption", #"{"sampleContentProvided":false,"consumptionPercentage":0}"#, "30003800"),
        ("Link", #"{"app":"","user":"bob"}"#, "1203626f62"),
        (
            "Callback", #"{"types":["a","b"],"environments":["Production","Sandbox"],"missedEvents":false}"#,
            "2a01612a01623a020102"
        ),
        ("AddCallerRequest", #"{"scopes":{"coins":["links:read"]}}"#, "120c0a05636f696e7312030a0109"),
        ("Delivery", #"{"report":{"b":"x","a":1}}"#, "a2011a0a080a016212031a01780a0e0a0161120911000000000000f03f"),
        ("ReceiptUpload", #"{"receipt":"AAEC","metadata":{"a":1}}"#, "0a0300010232077b2261223a317d"),
        ("Erasure", #"{"erased":{"links":3}}"#, "2a090a056c696e6b731003"),
    ])
    func `messages are the bytes that other implementations make`(message: String, json: String, hex: String) throws {
        #expect(ContractFixture.hex(try ContractFixture.bytes(json, as: message)) == hex)
    }

    @Test(arguments: [
        (
            "Consumption",
            #"{"transactionId":"7","environment":"Sandbox","customerConsented":true,"refundPreference":"DECLINE"}"#
        ),
        ("Consumption", #"{"deadline":"2026-01-31T12:00:00.250Z","appleV1":{"accountTenure":0,"appAccountToken":""}}"#),
        ("Caller", #"{"name":"shop","source":"store","scopes":{"coins":["links:read","links:write"],"gems":[]}}"#),
        ("ChangeCallbackRequest", #"{"types":[],"products":["p"],"environments":["Sandbox"],"state":"paused"}"#),
        ("Delivery", #"{"report":{"a":[1,-2.5,"x",null,true,{"b":{}}],"c":""}}"#),
        ("ReceiptUpload", #"{"receipt":"AAEC","metadata":{"z": 1,  "a":[ ]}}"#),
        ("Erasure", #"{"erased":{"links":3,"events":0}}"#),
    ])
    func `messages go there and back again`(message: String, json: String) throws {
        let expected = try JSONValue(parsing: json)
        let back = try JSONValue(parsing: try ContractFixture.roundTrip(json, as: message))
        for member in try #require(expected.object).members {
            #expect(back[member.key] == member.value, "\(member.key)")
        }
    }

    @Test func `a JSON text is passed on byte for byte`() throws {
        let json = #"{"metadata":{"z": 1,  "a":[ ]}}"#
        #expect(try ContractFixture.roundTrip(json, as: "ReceiptUpload") == json)
    }

    @Test func `what Apple sends besides is kept, as it was written`() throws {
        let json = #"{"transaction":{"transactionId":"1","price":990,"brandNew":{"a": 1e3},"quantity":"many"}}"#
        let back = try JSONValue(parsing: try ContractFixture.roundTrip(json, as: "VerifiedTransaction"))
        let transaction = try #require(back["transaction"])
        #expect(transaction["transactionId"] == "1" && transaction["price"] == 990)
        #expect(transaction["brandNew"]?.serializedString() == #"{"a":1e3}"#)
        // Of another type than it has been so far.
        #expect(transaction["quantity"] == "many")
    }

    @Test func `null is the same as nothing, and an empty list is none`() throws {
        #expect(try ContractFixture.bytes(#"{"caseId":null,"attempts":[],"warnings":[]}"#, as: "Delivery") == [])
    }

    @Test func `what is false, zero or empty and always there is shown though it is not on the wire`() throws {
        let (json, faults) = try ContractFixture.json([], as: "ListEventsResponse")
        #expect(json == #"{"cursor":"","hasMore":false}"# && faults == [])
    }

    @Test func `parts of one message are one message, and the last of several values counts`() throws {
        var writer = WireWriter()
        writer.field(9) { $0.field(1, varint: 3) }
        writer.field(9) { $0.field(2, text: "t") }
        writer.field(1, text: "first")
        writer.field(1, text: "last")
        let (json, faults) = try ContractFixture.json(writer.bytes, as: "Consumption")
        #expect(
            json == #"{"transactionId":"last","appleV1":{"accountTenure":3,"appAccountToken":"t"}}"# && faults == [])
    }

    @Test func `numbers behind each other and one by one are the same list`() throws {
        var packed = WireWriter()
        packed.field(7, bytes: [1, 2])
        var single = WireWriter()
        single.field(7, varint: 1)
        single.field(7, varint: 2)
        for bytes in [packed.bytes, single.bytes] {
            let json = try JSONValue(parsing: try ContractFixture.json(bytes, as: "Callback").json)
            #expect(json["environments"] == ["Production", "Sandbox"])
        }
    }

    @Test(arguments: [
        // A field that nobody knows, also inside another.
        ("f80601", "#111", "unknown"), ("4a03f80601", "appleV1.#111", "unknown"),
        // A text that is no UTF-8, a value of another type, a time that there is not.
        ("0a02c328", "transactionId", "encoding"), ("0801", "transactionId", "encoding"),
        ("1a07088083d1ffaf07", "deadline", "format"), ("1a0b10ffffffffffffffffff01", "deadline", "format"),
        // No message at all.
        ("0a05", "", "encoding"),
    ])
    func `what is no request is told with its place`(hex: String, field: String, rule: String) throws {
        let bytes = stride(from: 0, to: hex.count, by: 2).map { offset -> UInt8 in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
        let faults = try ContractFixture.json(bytes, as: "Consumption").faults
        #expect(faults.map(\.field) == [field] && faults.map(\.rule) == [rule])
    }

    @Test func `a number that no value has becomes a text that no value has, and none is left out`() throws {
        #expect(try ContractFixture.json([0x28, 77], as: "Consumption").json == #"{"deliveryStatus":"77"}"#)
        #expect(try ContractFixture.json([0x28, 0], as: "Consumption").json == "{}")
    }

    @Test func `objects lie no deeper in each other than JSON may`() throws {
        var inner = WireWriter()
        for _ in 0..<200 {
            var value = WireWriter()
            value.field(2) { $0.field(5, bytes: inner.bytes) }
            value.field(1, text: "a")
            var object = WireWriter()
            object.field(1, bytes: value.bytes)
            inner = object
        }
        var delivery = WireWriter()
        delivery.field(20, bytes: inner.bytes)
        #expect(try ContractFixture.json(delivery.bytes, as: "Delivery").faults.map(\.rule) == ["depth"])
    }

    @Test func `anything at all is read without harm`() throws {
        var state: UInt64 = 42
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        for _ in 0..<2000 {
            let bytes = (0..<Int(next() % 40)).map { _ in UInt8(truncatingIfNeeded: next()) }
            let (json, faults) = try ContractFixture.json(bytes, as: "Delivery")
            if faults.isEmpty { #expect((try? JSONValue(parsing: json)) != nil) }
        }
    }
}
