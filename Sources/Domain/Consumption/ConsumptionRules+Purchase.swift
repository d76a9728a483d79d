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
