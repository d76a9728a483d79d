import Domain
import Foundation
import Testing

struct ConsumptionRulesTests {
    private static let complete: [String: FieldValue] = [
        "customerConsented": .boolean(true), "deliveryStatus": .string("DELIVERED"),
        "sampleContentProvided": .boolean(false), "consumptionPercentage": .integer(50_000),
        "refundPreference": .string("DECLINE"),
    ]

    private static let completeVersion1: [String: FieldValue] = [
        "accountTenure": .integer(7), "appAccountToken": .string(""), "consumptionStatus": .integer(3),
        "customerConsented": .boolean(true), "deliveryStatus": .integer(5), "lifetimeDollarsPurchased": .integer(7),
        "lifetimeDollarsRefunded": .integer(0), "platform": .integer(2), "playTime": .integer(7),
        "refundPreference": .integer(3), "sampleContentProvided": .boolean(true), "userStatus": .integer(4),
    ]

    @Test func `a complete version 2 answer passes`() throws {
        let answer = try ConsumptionRules.version2(Self.complete)
        #expect(
            answer
                == ConsumptionV2(
                    deliveryStatus: .delivered, sampleContentProvided: false, consumptionPercentage: 50_000,
                    refundPreference: .decline))
    }

    @Test func `the optional fields of version 2 may be left out`() throws {
        var fields = Self.complete
        fields["consumptionPercentage"] = nil
        fields["refundPreference"] = nil
        let answer = try ConsumptionRules.version2(fields)
        #expect(answer.consumptionPercentage == nil && answer.refundPreference == nil)
    }

    @Test(
        arguments: [
            ("customerConsented", .boolean(false), "InvalidCustomerConsentedError", 4_000_035),
            ("customerConsented", .string("true"), "InvalidCustomerConsentedError", 4_000_035),
            ("customerConsented", .null, "InvalidCustomerConsentedError", 4_000_035),
            ("deliveryStatus", .string("LOST"), "InvalidDeliveryStatusError", 4_000_036),
            ("deliveryStatus", .integer(0), "InvalidDeliveryStatusError", 4_000_036),
            ("sampleContentProvided", .integer(1), "InvalidSampleContentProvidedError", 4_000_041),
            ("consumptionPercentage", .integer(100_001), "ConsumptionPercentageOutOfRangeError", nil),
            ("consumptionPercentage", .integer(-1), "ConsumptionPercentageOutOfRangeError", nil),
            ("consumptionPercentage", .number(0.5), "ConsumptionPercentageOutOfRangeError", nil),
            ("consumptionPercentage", .null, "ConsumptionPercentageOutOfRangeError", nil),
            ("refundPreference", .string("MAYBE"), "InvalidRefundPreferenceError", nil),
            ("refundPreference", .integer(1), "InvalidRefundPreferenceError", nil),
        ] as [(String, FieldValue, String, Int64?)])
    func `a bad version 2 field is named with Apple's error`(
        field: String, value: FieldValue, name: String, code: Int64?
    ) {
        var fields = Self.complete
        fields[field] = value
        let violations = Self.violations { () throws(ServiceError) in _ = try ConsumptionRules.version2(fields) }
        #expect(violations.map(\.field) == [field])
        #expect(violations.first?.appleError == AppleErrorName(name, code))
    }

    @Test func `every violation is told at once`() {
        let fields: [String: FieldValue] = [
            "deliveryStatus": .string("LOST"), "consumptionPercentage": .integer(100_001), "extra": .null,
        ]
        let violations = Self.violations { () throws(ServiceError) in _ = try ConsumptionRules.version2(fields) }
        #expect(
            violations.map(\.field) == [
                "customerConsented", "deliveryStatus", "sampleContentProvided", "consumptionPercentage", "extra",
            ])
    }

    @Test func `an undelivered purchase has no percentage but 0`() throws {
        var fields = Self.complete
        fields["deliveryStatus"] = .string("UNDELIVERED_OTHER")
        let violations = Self.violations { () throws(ServiceError) in _ = try ConsumptionRules.version2(fields) }
        #expect(violations.first?.appleError?.name == "UndeliveredConsumptionPercentageNonZeroError")
        fields["consumptionPercentage"] = .integer(0)
        #expect(try ConsumptionRules.version2(fields).consumptionPercentage == 0)
    }

    @Test func `a field that the app lets through is kept`() throws {
        var fields = Self.complete
        fields["futureField"] = .string("x")
        #expect(throws: ServiceError(.invalidRequest, "")) { try ConsumptionRules.version2(fields) }
        let answer = try FieldReader.read(fields) {
            ConsumptionRules.version2(&$0, passThrough: ["futureField"]).answer
        }
        guard case .v2(let kept) = answer else { throw ServiceError(.internalError, "not version 2") }
        #expect(kept.additional == ["futureField": .string("x")])
    }

    @Test func `a complete version 1 answer passes, and only refundPreference may be left out`() throws {
        #expect(try Self.version1(Self.completeVersion1).refundPreference == 3)
        for name in Self.completeVersion1.keys {
            var fields = Self.completeVersion1
            fields[name] = nil
            let violations = Self.violations { () throws(ServiceError) in _ = try Self.version1(fields) }
            #expect(violations.map(\.field) == (name == "refundPreference" ? [] : ["appleV1.\(name)"]))
        }
    }

    @Test(
        arguments: [
            ("accountTenure", Int64(8), 4_000_032), ("consumptionStatus", 4, 4_000_034),
            ("deliveryStatus", 6, 4_000_036),
            ("lifetimeDollarsPurchased", 8, 4_000_037), ("lifetimeDollarsRefunded", 8, 4_000_038),
            ("platform", 3, 4_000_039), ("playTime", 8, 4_000_040), ("userStatus", 5, 4_000_042),
            ("userStatus", -1, 4_000_042),
        ] as [(String, Int64, Int64)])
    func `a version 1 code outside its range is named with Apple's error`(field: String, value: Int64, code: Int64) {
        var fields = Self.completeVersion1
        fields[field] = .integer(value)
        let violations = Self.violations { () throws(ServiceError) in _ = try Self.version1(fields) }
        #expect(violations.map(\.field) == ["appleV1.\(field)"])
        #expect(violations.first?.appleError?.code == code)
    }

    @Test func `a version 1 appAccountToken is a UUID or empty`() throws {
        var fields = Self.completeVersion1
        fields["appAccountToken"] = .string("3F2504E0-4F89-11D3-9A0C-0305E82C3301")
        _ = try Self.version1(fields)
        fields["appAccountToken"] = .string("3F2504E0-4F89-11D3-9A0C-0305E82C330")
        let violations = Self.violations { () throws(ServiceError) in _ = try Self.version1(fields) }
        #expect(violations.first?.appleError?.code == 4_000_033)
    }

    private static func version1(_ fields: [String: FieldValue]) throws(ServiceError) -> ConsumptionV1 {
        try FieldReader.read(fields, prefix: "appleV1.") { fields in
            if case .v1(let answer) = ConsumptionRules.version1(&fields).answer { answer } else { nil }
        }
    }

    static func violations(_ body: () throws(ServiceError) -> Void) -> [Violation] {
        do {
            try body()
            return []
        } catch {
            return error.violations
        }
    }
}
