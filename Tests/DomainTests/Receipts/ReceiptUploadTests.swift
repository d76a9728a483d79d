import Foundation
import TestSupport
import Testing

@testable import Domain

/// The fields of an upload.
struct ReceiptUploadTests {
    private func read(
        _ body: [String: FieldValue], metadata: String? = nil, address: String? = "198.51.100.7"
    ) -> (upload: ReceiptUpload?, error: ServiceError?) {
        var fields = FieldReader(body: body)
        let upload = ReceiptUpload(
            &fields, metadata: metadata.map { Array($0.utf8) }, requestAddress: address)
        return (upload, fields.isValid ? nil : fields.error)
    }

    private static let receipt = FieldValue.string("cmVjZWlwdA==")

    @Test func `a whole upload is read`() throws {
        let read = read(
            [
                "receipt": .string("cmVj\r\nZWlwdA=="), "country_code": .string("de"),
                "identifier_for_vendor": .string("9F2C1D3E-5A4B-4C6D-8E7F-001122334455"),
                "user_identifier": .string("alice"), "ip_address": .string("2001:db8::1"), "metadata": .object([:]),
            ], metadata: #"{"campaign": 1.50}"#)
        let upload = try #require(read.upload)
        #expect(read.error == nil)
        #expect(upload.receipt == Array("receipt".utf8))
        #expect(upload.countryCode == "DE" && upload.user?.value == "alice" && upload.ipAddress == "2001:db8::1")
        #expect(upload.identifierForVendor?.uuidString == "9F2C1D3E-5A4B-4C6D-8E7F-001122334455")
        #expect(upload.metadata == Array(#"{"campaign": 1.50}"#.utf8))
    }

    @Test func `what is left out or null is not there, but for the address of the request`() throws {
        let least = try #require(read(["receipt": Self.receipt]).upload)
        #expect(least == ReceiptUpload(receipt: Array("receipt".utf8), ipAddress: "198.51.100.7"))
        let nulls = read([
            "receipt": Self.receipt, "country_code": .null, "identifier_for_vendor": .null, "user_identifier": .null,
            "ip_address": .null, "metadata": .null,
        ])
        #expect(nulls.upload == ReceiptUpload(receipt: Array("receipt".utf8)) && nulls.error == nil)
    }

    @Test func `NULL keeps no address`() throws {
        #expect(try #require(read(["receipt": Self.receipt, "ip_address": .string("NULL")]).upload).ipAddress == nil)
    }

    @Test func `everything that is wrong is told at once`() {
        let error = read([
            "country_code": .string("XX"), "identifier_for_vendor": .string("phone"), "user_identifier": .string(""),
            "ip_address": .string("1.2.3.4:80"), "metadata": .string("{}"), "user": .string("alice"),
        ]).error
        let told = error?.violations.map { "\($0.field) \($0.rule)" } ?? []
        #expect(
            Set(told) == [
                "receipt required", "country_code iso3166", "identifier_for_vendor format", "user_identifier length",
                "ip_address ipAddress", "metadata type", "user unknownField",
            ])
    }

    @Test(arguments: ["", "n o t base64!", "cmVjZWlwdA=", "=", "cmVj_2lwdA=="])
    func `what is not Base64 is no receipt`(text: String) {
        #expect(read(["receipt": .string(text)]).error?.violations.map(\.field) == ["receipt"])
    }

    @Test func `a user's id has 1 to 128 bytes`() {
        for (count, isTaken) in [(1, true), (128, true), (129, false), (0, false)] {
            let id = String(repeating: "x", count: count)
            let upload = read(["receipt": Self.receipt, "user_identifier": .string(id)]).upload
            #expect((upload != nil) == isTaken)
        }
    }

    @Test func `metadata have 16 KiB as they were sent`() {
        for (count, isTaken) in [(16_384, true), (16_385, false)] {
            let text = "{\"a\":\"" + String(repeating: "x", count: count - 8) + "\"}"
            #expect(text.utf8.count == count)
            let read = read(["receipt": Self.receipt, "metadata": .object([:])], metadata: text)
            #expect((read.upload != nil) == isTaken)
            #expect(read.error?.violations.map(\.rule) ?? [] == (isTaken ? [] : ["length"]))
        }
    }

    @Test func `a country is one that ISO 3166-1 assigns`() {
        #expect(CountryCode.assigned.count == 250)
        #expect(CountryCode.assigned.allSatisfy { $0.utf8.count == 2 })
        for code in ["DE", "us", "Gb", "XK", "AX", "ZW"] { #expect(CountryCode(text: code)?.text == code.uppercased()) }
        for code in ["", "D", "DEU", "UK", "EU", "ZZ", "D1", "ß", "DE "] { #expect(CountryCode(text: code) == nil) }
    }

    @Test(arguments: [
        "0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "1::8",
        "::ffff:192.0.2.1", "1:2:3:4:5:6:192.0.2.1", "fe80::a:B", "1:2:3:4:5:6:7::",
    ])
    func `an address is of either version`(text: String) { #expect(IPAddress.isValid(text)) }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4/8", "1.2.3.-4", " 1.2.3.4", ":", ":::",
        "1::2::3",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::1", "fe80::1%eth0", "[::1]", "::1.2.3",
        "1:2:3:4:5:6:7:192.0.2.1",
        "1:2:3:4:5:6:7:8::", "192.0.2.1::", "١.2.3.4",
    ])
    func `anything else is none`(text: String) { #expect(!IPAddress.isValid(text)) }
}
