package import Foundation

// What the purchase decides, and the time that there is for it.

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

    private static let warningOfVersion1 =
        "Apple has deprecated version 1 (ConsumptionRequestV1) except for purchases made through Advanced Commerce; send the fields of version 2 (ConsumptionRequest) for any other."

    /// Checks an answer against the purchase that it is about.
    ///
    /// - Parameters:
    ///   - answer: what is to be sent.
    ///   - purchase: nil when it is not known: then Apple decides.
    ///   - others: rules that are known to be broken besides.
    /// - Returns: the answer as it is sent, and what to warn of.
    /// - Throws: `invalidRequest` with every broken rule.
    package static func check(
        _ answer: ConsumptionAnswer, against purchase: PurchaseFacts?, and others: [Violation] = []
    ) throws(ServiceError) -> Verdict {
        let violations = others + (purchase.map { self.violations(of: Outline(answer), against: $0) } ?? [])
        guard violations.isEmpty else { throw .invalid(violations) }
        guard case .v2(var fields) = answer else {
            let isDeprecated = purchase?.isAdvancedCommerce != true
            return Verdict(answer: answer, warnings: isDeprecated ? [warningOfVersion1] : [])
        }
        guard let purchase, purchase.productType != .autoRenewableSubscription else {
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
        var violations: [Violation] = []
        if purchase.isFamilyShared {
            violations.append(
                Violation(
                    field: "transactionId", rule: "familyShared",
                    message:
                        "This purchase came through Family Sharing; Apple takes no consumption information for it.",
                    appleError: AppleError.familyShared))
        }
        // Apple has deprecated version 1 for most types of product, and refuses it for none by its pages.
        if case .v2(let status, let percentage, let preference) = outline {
            violations += self.violations(of: status, percentage, preference, against: purchase)
        }
        return violations
    }

    /// What is wrong with the end that a caller has set to its answer: it can only shorten the time that there is.
    ///
    /// - Parameters:
    ///   - deadline: what the caller says; nil when nothing.
    ///   - latest: the end of the case, or of Apple's 12 hours.
    ///   - now: the time of day.
    /// - Returns: one violation, or none.
    package static func violations(ofDeadline deadline: Date?, latest: Date, at now: Date) -> [Violation] {
        guard let deadline else { return [] }
        if deadline <= now {
            return [Violation(field: "deadline", rule: "future", message: "`deadline` must lie in the future.")]
        }
        guard deadline > latest else { return [] }
        let end = latest.addingTimeInterval(0.000_5).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return [
            Violation(
                field: "deadline", rule: "latest",
                message: "`deadline` can only shorten the time that there is, which ends at \(end).")
        ]
    }

    private static func violations(
        of status: ConsumptionV2.DeliveryStatus?, _ percentage: Int32?, _ preference: ConsumptionV2.RefundPreference?,
        against purchase: PurchaseFacts
    ) -> [Violation] {
        var violations: [Violation] = []
        func refuse(_ field: String, _ rule: String, _ message: String, _ error: AppleErrorName) {
            violations.append(Violation(field: field, rule: rule, message: message, appleError: error))
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
