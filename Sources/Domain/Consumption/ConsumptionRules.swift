/// Apple's rules for consumption answers: what can be told from the body alone, and what the purchase decides.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest,
/// https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1
package enum ConsumptionRules {
    /// Names of Apple's errors for these rules; the code is nil where Apple publishes none.
    enum AppleError {
        static let deliveryStatus = AppleErrorName("InvalidDeliveryStatusError", 4_000_036)
        static let sampleContentProvided = AppleErrorName("InvalidSampleContentProvidedError", 4_000_041)
        static let refundPreference = AppleErrorName("InvalidRefundPreferenceError", nil)
        static let percentageOutOfRange = AppleErrorName("ConsumptionPercentageOutOfRangeError", nil)
        static let undeliveredPercentage = AppleErrorName("UndeliveredConsumptionPercentageNonZeroError", nil)
        static let autoRenewablePercentage = AppleErrorName("ConsumptionPercentageAutoRenewableSubscriptionError", nil)
        static let familyShared = AppleErrorName("FamilyTransactionNotSupportedError", 4_000_185)
        static let advancedCommerce = AppleErrorName("AdvancedCommerceTransactionNotSupportedError", nil)
    }

    /// The whole of a percentage, in milliunits.
    static let wholePercentage: Int32 = 100_000

    /// What was read of an answer.
    package struct Reading: Sendable {
        /// What the rules of the purchase look at.
        package let outline: Outline
        /// The whole; nil when the body breaks a rule.
        package let answer: ConsumptionAnswer?

        package init(outline: Outline, answer: ConsumptionAnswer?) {
            self.outline = outline
            self.answer = answer
        }
    }

    /// Reads the fields of a version 2 answer.
    ///
    /// `passThrough`: names that are taken unchecked.
    package static func version2(_ fields: inout FieldReader, passThrough: Set<String> = []) -> Reading {
        fields.unknownFieldProblem =
            "is not a field of this request; remove it, or let it through with the app's `additionalConsumptionFields`"
        let additional = fields.takeAll(passThrough)
        for name in additional.keys.sorted() where additional[name]?.isComposite == true {
            fields.note(name, "type", "`\(name)` passes through unchecked, but only as a single value.")
        }
        fields.consent("customerConsented")
        let status = fields.choice(
            "deliveryStatus", ConsumptionV2.DeliveryStatus.self, AppleError.deliveryStatus)
        let sample = fields.boolean("sampleContentProvided", AppleError.sampleContentProvided)
        let percentage = fields.integer(
            "consumptionPercentage", from: 0...wholePercentage, isRequired: false, AppleError.percentageOutOfRange)
        let preference = fields.choice(
            "refundPreference", ConsumptionV2.RefundPreference.self, isRequired: false, AppleError.refundPreference)
        if let status, status != .delivered, let percentage, percentage != 0 {
            fields.note(
                "consumptionPercentage", "undelivered",
                "`consumptionPercentage` must be 0 or left out when `deliveryStatus` is not `DELIVERED`.",
                AppleError.undeliveredPercentage)
        }
        let outline = Outline.v2(status, percentage: percentage, preference)
        guard let status, let sample else { return Reading(outline: outline, answer: nil) }
        return Reading(
            outline: outline,
            answer: .v2(
                ConsumptionV2(
                    deliveryStatus: status, sampleContentProvided: sample, consumptionPercentage: percentage,
                    refundPreference: preference, additional: additional)))
    }

    /// Reads the fields of a version 1 answer.
    ///
    /// `reason`: why it is one, where the caller has not said so.
    package static func version1(_ fields: inout FieldReader, because reason: String = "") -> Reading {
        fields.unknownFieldProblem = "is not a field of Apple's version 1\(reason); remove it"
        fields.missingFieldProblem = "is required in Apple's version 1\(reason)"
        fields.consent("customerConsented")
        let codes = Version1Codes.read(&fields)
        let token = fields.string(
            "appAccountToken", expected: "a UUID, or an empty string for none",
            AppleErrorName("InvalidAppAccountTokenError", 4_000_033)
        ) { $0.isEmpty || isUUID($0) }
        let sample = fields.boolean("sampleContentProvided", AppleError.sampleContentProvided)
        let preference: Int32? = fields.integer(
            "refundPreference", from: 0...3, isRequired: false, AppleError.refundPreference)
        guard let codes, let token, let sample else { return Reading(outline: .v1, answer: nil) }
        return Reading(
            outline: .v1,
            answer: .v1(
                ConsumptionV1(
                    accountTenure: codes.accountTenure, appAccountToken: token,
                    consumptionStatus: codes.consumptionStatus, deliveryStatus: codes.deliveryStatus,
                    lifetimeDollarsPurchased: codes.lifetimeDollarsPurchased,
                    lifetimeDollarsRefunded: codes.lifetimeDollarsRefunded, platform: codes.platform,
                    playTime: codes.playTime, refundPreference: preference, sampleContentProvided: sample,
                    userStatus: codes.userStatus)))
    }

    /// The version 2 answer that a table of fields alone makes.
    ///
    /// - Throws: `invalidRequest` with every broken rule.
    package static func version2(_ fields: [String: FieldValue]) throws(ServiceError) -> ConsumptionV2 {
        try FieldReader.read(fields) { fields in
            if case .v2(let answer) = version2(&fields).answer { answer } else { nil }
        }
    }

    /// The required integer codes of version 1.
    private struct Version1Codes {
        let accountTenure: Int32
        let consumptionStatus: Int32
        let deliveryStatus: Int32
        let lifetimeDollarsPurchased: Int32
        let lifetimeDollarsRefunded: Int32
        let platform: Int32
        let playTime: Int32
        let userStatus: Int32

        /// Reads them all, so that each broken rule is noted; nil when one is.
        static func read(_ fields: inout FieldReader) -> Version1Codes? {
            func code(_ name: String, upTo last: Int32, _ errorName: String, _ errorCode: Int64) -> Int32? {
                fields.integer(name, from: 0...last, AppleErrorName(errorName, errorCode))
            }
            let tenure = code("accountTenure", upTo: 7, "InvalidAccountTenureError", 4_000_032)
            let consumption = code("consumptionStatus", upTo: 3, "InvalidConsumptionStatusError", 4_000_034)
            let delivery = code("deliveryStatus", upTo: 5, "InvalidDeliveryStatusError", 4_000_036)
            let purchased = code("lifetimeDollarsPurchased", upTo: 7, "InvalidLifetimeDollarsPurchasedError", 4_000_037)
            let refunded = code("lifetimeDollarsRefunded", upTo: 7, "InvalidLifetimeDollarsRefundedError", 4_000_038)
            let platform = code("platform", upTo: 2, "InvalidPlatformError", 4_000_039)
            let playTime = code("playTime", upTo: 7, "InvalidPlayTimeError", 4_000_040)
            let user = code("userStatus", upTo: 4, "InvalidUserStatusError", 4_000_042)
            guard let tenure, let consumption, let delivery, let purchased, let refunded, let platform, let playTime,
                let user
            else { return nil }
            return Version1Codes(
                accountTenure: tenure, consumptionStatus: consumption, deliveryStatus: delivery,
                lifetimeDollarsPurchased: purchased, lifetimeDollarsRefunded: refunded, platform: platform,
                playTime: playTime, userStatus: user)
        }
    }

    /// Whether a text is a UUID in the usual form of 8-4-4-4-12 hexadecimal digits (RFC 9562 section 4).
    package static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}

// MARK: Which version it is

extension ConsumptionRules {
    /// The fields that version 1 alone has.
    private static let version1Fields = [
        "accountTenure", "appAccountToken", "consumptionStatus", "lifetimeDollarsPurchased", "lifetimeDollarsRefunded",
        "platform", "playTime", "userStatus",
    ]
    /// The field that version 2 alone has.
    private static let version2Field = "consumptionPercentage"
    /// The fields that are numbers in version 1 and words in version 2.
    private static let codedFields = ["deliveryStatus", "refundPreference"]

    /// Reads an answer of either version: version 1 inside `appleV1` or flat, as Apple writes it; else version 2.
    ///
    /// A flat answer is of version 1 if it has a field of that version alone, or a number where version 2 has a word.
    ///
    /// `passThrough`: names that version 2 takes unchecked.
    package static func read(_ fields: inout FieldReader, passThrough: Set<String> = []) -> Reading {
        guard !fields.holds("appleV1") else { return nested(&fields) }
        var first = version1Fields.filter(fields.holds)
        var second = ([version2Field] + passThrough.subtracting(version1Fields).sorted()).filter(fields.holds)
        for name in codedFields {
            switch fields.peek(name) {
            case .integer, .number: first.append(name)
            case .string: second.append(name)
            default: break
            }
        }
        guard let sign = first.first else { return version2(&fields, passThrough: passThrough) }
        guard second.isEmpty else { return mixed(&fields, first, second) }
        return version1(&fields, because: ", which this body is for its `\(sign)`")
    }

    private static func nested(_ fields: inout FieldReader) -> Reading {
        fields.unknownFieldProblem = "cannot stand beside `appleV1`; put version 1 fields inside it"
        let reading = fields.object("appleV1", expected: "an object of the version 1 fields") { version1(&$0) }
        return reading ?? Reading(outline: .v1, answer: nil)
    }

    /// Fields of both versions are one mistake, not one for each field; what both have alike is read all the same.
    private static func mixed(_ fields: inout FieldReader, _ first: [String], _ second: [String]) -> Reading {
        func list(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }
        let isNumber = codedFields.contains(where: first.contains) || codedFields.contains(where: second.contains)
        fields.note(
            "appleV1", "mixedVersions",
            "Send the fields of one version of Apple's: \(list(first)) can only be of version 1, which is best put into"
                + " `appleV1`, and \(list(second)) of version 2"
                + (isNumber ? "; \(list(codedFields)) are numbers in the one and words in the other." : "."))
        _ = fields.takeAll(Set(version1Fields + codedFields + second))
        fields.consent("customerConsented")
        _ = fields.boolean("sampleContentProvided", AppleError.sampleContentProvided)
        return Reading(outline: .v1, answer: nil)
    }
}
