import JSON
import Testing

struct JSONNumberTests {
    @Test(
        "Integers are read exactly, however they are written",
        arguments: [
            ("0", 0), ("-0", 0), ("0.000", 0), ("0e999999999999999999999", 0), ("-0.0e-5", 0), ("12", 12), ("12.0", 12),
            ("1.2e1", 12),
            ("120e-1", 12), ("0.00012E+5", 12), ("-7", -7), ("1000000000000000000000e-21", 1),
            ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9223372036854775807.00", .max), ("9.223372036854775807e18", .max),
            ("-922337203685477580800e-2", .min), ("9007199254740993", 9_007_199_254_740_993),
            ("1700000000000", 1_700_000_000_000),
        ] as [(String, Int64)])
    func integers(_ text: String, _ expected: Int64) throws {
        #expect(try JSONValue(parsing: text).int64 == expected)
        #expect(try JSONScanner.members(of: Array("{\"n\":\(text)}".utf8))["n"]?.int64 == expected)
    }

    @Test(
        "Fractions and numbers out of range are no integers",
        arguments: [
            "0.5", "1.2", "12e-1", "1e-1", "1e-999999999999999999999", "9223372036854775808", "-9223372036854775809",
            "1e19", "1e999999999999999999999",
            "18446744073709551616", "18446744073709551617", "99999999999999999999999999", "9223372036854775807.5",
            "12345678901234567890123e-3",
        ])
    func notIntegers(_ text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(value.int64 == nil)
        #expect(value.kind == .number)
    }

    @Test("Doubles are the nearest ones, and none is infinite")
    func doubles() throws {
        #expect(try JSONValue(parsing: "0.1").double == 0.1)
        #expect(try JSONValue(parsing: "-1.5E-3").double == -0.0015)
        #expect(try JSONValue(parsing: "9007199254740993").double == 9_007_199_254_740_992)
        #expect(try JSONValue(parsing: "1e400").double == nil)
        #expect(try JSONValue(parsing: "1e-400").double == 0)
    }

    @Test("A number passes through with every digit")
    func textIsKept() throws {
        let text = #"[1.10,1E5,-0.0,123456789012345678901234567890]"#
        #expect(try JSONValue(parsing: text).description == text)
        #expect(JSONNumber(1.0).map(JSONValue.number) != .number(JSONNumber(1)))
    }

    @Test("Swift numbers become JSON numbers")
    func fromSwift() throws {
        #expect(JSONNumber(Int64.min).text == "-9223372036854775808")
        #expect(JSONNumber(Double.infinity) == nil)
        #expect(JSONNumber(Double.nan) == nil)
        for value in [
            0.1, -0.0, 1e300, Double.leastNonzeroMagnitude, Double.greatestFiniteMagnitude, 1e16, 123_456.789,
        ] {
            let number = try #require(JSONNumber(value))
            #expect(try JSONValue(parsing: number.text).double == value)
        }
    }
}
