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
    static let wholePercentage: Int64 = 100_000

    /// Checks the fields of a version 2 answer.
    ///
    /// - Parameters:
    ///   - fields: the body's fields by name.
    ///   - passThrough: names that are taken unchecked.
    /// - Returns: the answer, complete.
    /// - Throws: `invalidRequest` with every broken rule.
    package static func version2(
        _ fields: [String: FieldValue], passThrough: Set<String> = []
    ) throws(ServiceError) -> ConsumptionV2 {
        var reader = FieldReader(
            fields,
            unknownFieldAdvice: "remove it, or let it through with the app's `additionalConsumptionFields`")
        let additional = reader.takeAll(passThrough)
        for name in additional.keys.sorted() where additional[name]?.isComposite == true {
            reader.note(name, "type", "`\(name)` passes through unchecked, but only as a single value.", nil)
        }
        reader.consent("customerConsented")
        let status = reader.choice(
            "deliveryStatus", ConsumptionV2.DeliveryStatus.self, isRequired: true, AppleError.deliveryStatus)
        let sample = reader.boolean("sampleContentProvided", AppleError.sampleContentProvided)
        let percentage = reader.integer(
            "consumptionPercentage", in: 0...wholePercentage, isRequired: false, AppleError.percentageOutOfRange)
        let preference = reader.choice(
            "refundPreference", ConsumptionV2.RefundPreference.self, isRequired: false, AppleError.refundPreference)
        if let status, status != .delivered, let percentage, percentage != 0 {
            reader.note(
                "consumptionPercentage", "undelivered",
                "`consumptionPercentage` must be 0 or left out when `deliveryStatus` is not `DELIVERED`.",
                AppleError.undeliveredPercentage)
        }
        reader.refuseUnknownFields()
        guard reader.violations.isEmpty, let status, let sample else { throw .invalid(reader.violations) }
        return ConsumptionV2(
            deliveryStatus: status, sampleContentProvided: sample, consumptionPercentage: percentage,
            refundPreference: preference, additional: additional)
    }

    /// Checks the fields of a version 1 answer; violations name them with the prefix, as `appleV1.…`.
    ///
    /// - Throws: `invalidRequest` with every broken rule.
    package static func version1(
        _ fields: [String: FieldValue], prefix: String = "appleV1."
    ) throws(ServiceError) -> ConsumptionV1 {
        var reader = FieldReader(fields, prefix: prefix)
        reader.consent("customerConsented")
        let codes = Version1Codes.read(&reader)
        let token = reader.string(
            "appAccountToken", expected: "a UUID, or an empty string for none",
            AppleErrorName("InvalidAppAccountTokenError", 4_000_033)
        ) { $0.isEmpty || isUUID($0) }
        let sample = reader.boolean("sampleContentProvided", AppleError.sampleContentProvided)
        let preference = reader.integer("refundPreference", in: 0...3, isRequired: false, AppleError.refundPreference)
        reader.refuseUnknownFields()
        guard reader.violations.isEmpty, let codes, let token, let sample else { throw .invalid(reader.violations) }
        return ConsumptionV1(
            accountTenure: codes.accountTenure, appAccountToken: token, consumptionStatus: codes.consumptionStatus,
            deliveryStatus: codes.deliveryStatus, lifetimeDollarsPurchased: codes.lifetimeDollarsPurchased,
            lifetimeDollarsRefunded: codes.lifetimeDollarsRefunded, platform: codes.platform,
            playTime: codes.playTime, refundPreference: preference, sampleContentProvided: sample,
            userStatus: codes.userStatus)
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
        static func read(_ reader: inout FieldReader) -> Version1Codes? {
            func code(_ name: String, upTo last: Int64, _ errorName: String, _ errorCode: Int64) -> Int32? {
                reader.integer(name, in: 0...last, isRequired: true, AppleErrorName(errorName, errorCode))
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
        switch answer {
        case .v2(let fields): try check(fields, against: purchase)
        case .v1(let fields): try check(fields, against: purchase)
        }
    }

    private static func check(
        _ fields: ConsumptionV2, against purchase: PurchaseFacts
    ) throws(ServiceError) -> Verdict {
        var violations: [Violation] = []
        func refuse(_ field: String, _ rule: String, _ message: String, _ error: AppleErrorName) {
            violations.append(Violation(field: field, rule: rule, message: message, appleError: error))
        }
        let isAutoRenewable = purchase.productType == .autoRenewableSubscription
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
        if isAutoRenewable, fields.consumptionPercentage != nil {
            refuse(
                "consumptionPercentage", "autoRenewable",
                "Leave `consumptionPercentage` out for an auto-renewable subscription: Apple computes it.",
                AppleError.autoRenewablePercentage)
        }
        var sent = fields
        if !isAutoRenewable, fields.deliveryStatus != .delivered, fields.consumptionPercentage == nil {
            sent.consumptionPercentage = 0
        }
        var warnings: [String] = []
        if fields.refundPreference == .grantProrated, !isAutoRenewable {
            switch sent.consumptionPercentage {
            case nil:
                warnings.append(
                    "GRANT_PRORATED without consumptionPercentage: Apple's pages differ on whether one is needed; give one above 0 and below 100000."
                )
            case .some(let percentage) where percentage <= 0 || Int64(percentage) >= wholePercentage:
                refuse(
                    "refundPreference", "prorated",
                    fields.deliveryStatus == .delivered
                        ? "`GRANT_PRORATED` needs a `consumptionPercentage` above 0 and below 100000."
                        : "`GRANT_PRORATED` is not possible for an undelivered purchase, of which nothing was consumed; prefer `GRANT_FULL`.",
                    AppleError.refundPreference)
            case .some: break
            }
        }
        guard violations.isEmpty else { throw .invalid(violations) }
        return Verdict(answer: .v2(sent), warnings: warnings)
    }

    private static func check(
        _ fields: ConsumptionV1, against purchase: PurchaseFacts
    ) throws(ServiceError) -> Verdict {
        guard purchase.isAdvancedCommerce else {
            throw .invalid([
                Violation(
                    field: "appleV1", rule: "advancedCommerce",
                    message:
                        "Apple's version 1 is for purchases made through Advanced Commerce; send the version 2 fields for this one.",
                    appleError: AppleError.transactionType)
            ])
        }
        return Verdict(answer: .v1(fields), warnings: [])
    }
}
