import Domain
import Testing

struct RenewalExtensionTests {
    private let uuid = "018C0000-0000-7000-8000-00000000000a"

    private func fields(
        days: FieldValue? = .integer(30), reason: FieldValue? = .integer(3), identifier: FieldValue? = .string("mine"),
        _ others: [String: FieldValue] = [:]
    ) -> [String: FieldValue] {
        var fields = others
        fields["extendByDays"] = days
        fields["extendReasonCode"] = reason
        fields["requestIdentifier"] = identifier
        return fields
    }

    private func read(_ fields: [String: FieldValue]) throws -> RenewalExtension {
        try FieldReader.read(fields) { RenewalExtension(&$0) }
    }

    private func readMass(_ fields: [String: FieldValue]) throws -> MassRenewalExtension {
        try FieldReader.read(fields) { MassRenewalExtension(&$0) }
    }

    private func codes(_ body: () throws -> Void) -> [Int64?] {
        let error = #expect(throws: ServiceError.self) { try body() }
        return error?.violations.map(\.appleError?.code) ?? []
    }

    @Test func `1 to 90 days, reasons 0 to 3 and identifiers of 1 to 128 characters are taken`() throws {
        for (days, reason, length) in [(1, 0, 1), (90, 3, 128)] as [(Int64, Int64, Int)] {
            let identifier = String(repeating: "é", count: length)
            let read = try read(
                fields(days: .integer(days), reason: .integer(reason), identifier: .string(identifier)))
            #expect(
                read
                    == RenewalExtension(
                        days: Int32(days), reasonCode: Int32(reason), requestIdentifier: identifier))
        }
    }

    @Test func `everything else is told at once, with Apple's code`() {
        for (days, reason, identifier) in [
            (.integer(0), .integer(-1), .string("")),
            (.integer(91), .integer(4), .string(String(repeating: "x", count: 129))),
            (.string("7"), .number(1.5), .integer(1)), (nil, nil, nil), (.null, .boolean(true), .array([])),
        ] as [(FieldValue?, FieldValue?, FieldValue?)] {
            let found = codes { _ = try read(fields(days: days, reason: reason, identifier: identifier)) }
            #expect(found == [4_000_009, 4_000_010, 4_000_011])
        }
        #expect(codes { _ = try read(fields(["colour": .null])) } == [nil])
    }

    @Test func `a mass extension needs a UUID and a product, and takes storefronts`() throws {
        let others: [String: FieldValue] = [
            "productId": .string("com.example.gems_1"),
            "storefrontCountryCodes": .array([.string("USA"), .string("XKS"), .string("USA")]),
        ]
        let read = try readMass(fields(identifier: .string(uuid), others))
        #expect(read.productID == "com.example.gems_1" && read.storefrontCountryCodes == ["USA", "XKS", "USA"])
        #expect(read.extension.requestIdentifier == uuid)
        let everywhere = try readMass(
            fields(identifier: .string(uuid), ["productId": .string("gems")]))
        #expect(everywhere.storefrontCountryCodes == nil)
    }

    @Test func `a mass extension that breaks rules is told all of them`() {
        let found = codes {
            _ = try readMass(
                fields(
                    days: .integer(100), identifier: .string("mine"),
                    [
                        "productId": .string(".."),
                        "storefrontCountryCodes": .array([.string("USA"), .string("usa"), .string("QQQ"), .integer(1)]),
                    ]))
        }
        #expect(found == [4_000_009, 4_000_011, 4_000_023, 4_000_028, 4_000_028, 4_000_028])
        let empty = codes {
            _ = try readMass(
                fields(
                    identifier: .string(uuid),
                    ["productId": .string("gems"), "storefrontCountryCodes": .array([])]))
        }
        #expect(empty == [4_000_027])
        let absent = codes {
            _ = try readMass(
                fields(identifier: .string(uuid), ["storefrontCountryCodes": .string("USA")]))
        }
        #expect(absent == [4_000_023, 4_000_028])
    }

    @Test func `every country of ISO 3166-1 has a storefront code`() throws {
        // First and last of each part of the list, and those that are easily forgotten.
        for code in ["ABW", "BES", "CUW", "GBR", "MNE", "PSE", "ROU", "SSD", "SXM", "TLS", "UMI", "ZWE"] {
            let read = try readMass(
                fields(
                    identifier: .string(uuid),
                    ["productId": .string("gems"), "storefrontCountryCodes": .array([.string(code)])]))
            #expect(read.storefrontCountryCodes == [code])
        }
    }
}
