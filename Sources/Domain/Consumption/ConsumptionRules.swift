/// Apple's rules for consumption answers: what can be told from the body alone, and what the purchase decides.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
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
        static let transactionType = AppleErrorName("InvalidTransactionTypeNotSupportedError", 4_000_047)
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
    package static func version1(_ fields: inout FieldReader) -> Reading {
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

// MARK: What the purchase decides

extension ConsumptionRules {
    /// What the rules of the purchase look at in an answer; nil what is missing, or breaks a rule of its own.
    package enum Outline: Sendable {
        case v2(ConsumptionV2.DeliveryStatus?, percentage: Int32?, ConsumptionV2.RefundPreference?)
        case v1

        fileprivate init(_ answer: ConsumptionAnswer) {
            switch answer {
            case .v2(let fields):
                self = .v2(
                    fields.deliveryStatus, percentage: fields.consumptionPercentage, fields.refundPreference)
            case .v1: self = .v1
            }
        }
    }

    /// What the rules that need the purchase made of an answer.
    package struct Verdict: Sendable, Equatable {
        /// The answer as it is sent, with what could be filled in.
        package let answer: ConsumptionAnswer
        /// What is allowed but worth a second look.
        package let warnings: [String]
    }

    /// Checks an answer against the purchase that it is about.
    ///
    /// - Throws: `invalidRequest` with every broken rule.
    package static func check(
        _ answer: ConsumptionAnswer, against purchase: PurchaseFacts
    ) throws(ServiceError) -> Verdict {
        let violations = violations(of: Outline(answer), against: purchase)
        guard violations.isEmpty else { throw .invalid(violations) }
        guard case .v2(var fields) = answer, purchase.productType != .autoRenewableSubscription else {
            return Verdict(answer: answer, warnings: [])
        }
        if fields.deliveryStatus != .delivered, fields.consumptionPercentage == nil { fields.consumptionPercentage = 0 }
        let isUnclear = fields.refundPreference == .grantProrated && fields.consumptionPercentage == nil
        return Verdict(
            answer: .v2(fields),
            warnings: isUnclear
                ? [
                    "GRANT_PRORATED without consumptionPercentage: Apple's pages differ on whether one is needed; give one above 0 and below 100000."
                ] : [])
    }

    /// Every rule that an answer breaks by the purchase that it is about.
    package static func violations(of outline: Outline, against purchase: PurchaseFacts) -> [Violation] {
        switch outline {
        case .v2(let status, let percentage, let preference):
            violations(of: status, percentage, preference, against: purchase)
        case .v1 where purchase.isAdvancedCommerce: []
        case .v1:
            [
                Violation(
                    field: "appleV1", rule: "advancedCommerce",
                    message:
                        "Apple's version 1 is for purchases made through Advanced Commerce; send the version 2 fields for this one.",
                    appleError: AppleError.transactionType)
            ]
        }
    }

    private static func violations(
        of status: ConsumptionV2.DeliveryStatus?, _ percentage: Int32?, _ preference: ConsumptionV2.RefundPreference?,
        against purchase: PurchaseFacts
    ) -> [Violation] {
        var violations: [Violation] = []
        func refuse(_ field: String, _ rule: String, _ message: String, _ error: AppleErrorName) {
            violations.append(Violation(field: field, rule: rule, message: message, appleError: error))
        }
        if purchase.isFamilyShared {
            refuse(
                "transactionId", "familyShared",
                "This purchase came through Family Sharing; Apple takes no consumption information for it.",
                AppleError.familyShared)
        }
        if purchase.isAdvancedCommerce {
            refuse(
                "transactionId", "advancedCommerce",
                "This purchase was made through Advanced Commerce; send the twelve version 1 fields in `appleV1` instead.",
                AppleError.advancedCommerce)
        }
        if purchase.productType == .autoRenewableSubscription {
            if percentage != nil {
                refuse(
                    "consumptionPercentage", "autoRenewable",
                    "Leave `consumptionPercentage` out for an auto-renewable subscription: Apple computes it.",
                    AppleError.autoRenewablePercentage)
            }
            return violations
        }
        // Of what was not delivered, nothing was consumed.
        let consumed = percentage ?? (status == nil || status == .delivered ? nil : 0)
        if preference == .grantProrated, let consumed, consumed <= 0 || consumed >= wholePercentage {
            refuse(
                "refundPreference", "prorated",
                status == nil || status == .delivered
                    ? "`GRANT_PRORATED` needs a `consumptionPercentage` above 0 and below 100000."
                    : "`GRANT_PRORATED` is not possible for an undelivered purchase, of which nothing was consumed; prefer `GRANT_FULL`.",
                AppleError.refundPreference)
        }
        return violations
    }
}
