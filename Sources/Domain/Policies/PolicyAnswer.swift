import Foundation

/// Makes the answer of a rule out of what is known of a purchase.
///
/// Usage that was reported comes first; what the rule states stands in where nothing was. What neither tells is left out, or
/// keeps the rule from applying: nothing is guessed.
package enum PolicyAnswer {
    /// Why a rule cannot answer.
    package struct Obstacle: Error, Sendable, Equatable {
        /// In words for the company.
        package let why: String
    }

    /// An answer, and the names of the facts in it that were reported.
    typealias Made = (answer: ConsumptionAnswer, usage: [String])

    /// The answer about a request.
    ///
    /// - Throws: `Obstacle` where a fact that Apple requires is not known, or Apple's rules refuse the whole.
    static func make(
        _ preference: ConsumptionV2.RefundPreference?, _ statement: RefundRule.Statement, _ facts: RefundPolicy.Facts,
        at now: Date
    ) throws(Obstacle) -> Made {
        let purchase = facts.refundCase.purchase
        var known = facts.usage?.facts ?? UsageFacts()
        let reported = Self.names(known, purchase)
        known.deliveryStatus = known.deliveryStatus ?? statement.deliveryStatus
        known.sampleContentProvided = known.sampleContentProvided ?? statement.sampleContentProvided
        known.consumptionPercentage = known.consumptionPercentage ?? statement.consumptionPercentage
        guard let delivery = known.deliveryStatus else { throw Obstacle(why: "`deliveryStatus` is not known") }
        guard let sample = known.sampleContentProvided else {
            throw Obstacle(why: "`sampleContentProvided` is not known")
        }
        if delivery != .delivered, let percentage = known.consumptionPercentage, percentage > 0 {
            throw Obstacle(why: "it was not delivered and yet consumed: `deliveryStatus` and `consumptionPercentage`")
        }
        let answer =
            purchase.isAdvancedCommerce
            ? try version1(preference, known, sample, purchase, at: now)
            : .v2(try version2(preference, known, delivery, sample, purchase))
        do throws(ServiceError) {
            return (try ConsumptionRules.check(answer, against: purchase).answer, reported)
        } catch {
            throw Obstacle(why: error.violations.map(\.message).joined(separator: " "))
        }
    }

    private static func version2(
        _ preference: ConsumptionV2.RefundPreference?, _ known: UsageFacts, _ delivery: ConsumptionV2.DeliveryStatus,
        _ sample: Bool, _ purchase: PurchaseFacts
    ) throws(Obstacle) -> ConsumptionV2 {
        let isRenewed = purchase.productType == .autoRenewableSubscription
        // Apple computes a subscription's itself, and takes none.
        let percentage = isRenewed || delivery != .delivered ? nil : known.consumptionPercentage
        if preference == .grantProrated, !isRenewed, delivery == .delivered, percentage == nil {
            throw Obstacle(why: "`consumptionPercentage` is not known, which `GRANT_PRORATED` needs")
        }
        return ConsumptionV2(
            deliveryStatus: delivery, sampleContentProvided: sample, consumptionPercentage: percentage,
            refundPreference: preference)
    }

    /// The answer in the only form that Apple takes about purchases made through Advanced Commerce.
    private static func version1(
        _ preference: ConsumptionV2.RefundPreference?, _ known: UsageFacts, _ sample: Bool, _ purchase: PurchaseFacts,
        at now: Date
    ) throws(Obstacle) -> ConsumptionAnswer {
        let codes = UsageCodes(known, at: now)
        guard preference != .grantProrated else {
            throw Obstacle(why: "Apple's version 1, which Advanced Commerce needs, knows no prorated refund")
        }
        guard let delivery = codes.deliveryStatus else { throw Obstacle(why: "`deliveryStatus` is not known") }
        return .v1(
            ConsumptionV1(
                accountTenure: codes.accountTenure, appAccountToken: purchase.appAccountToken ?? "",
                consumptionStatus: codes.consumptionStatus, deliveryStatus: delivery,
                lifetimeDollarsPurchased: codes.lifetimeDollarsPurchased,
                lifetimeDollarsRefunded: codes.lifetimeDollarsRefunded, platform: codes.platform,
                playTime: codes.playTime, refundPreference: preference.map { $0 == .decline ? 2 : 1 },
                sampleContentProvided: sample, userStatus: codes.userStatus))
    }

    /// The names of the reported facts that an answer about a purchase tells.
    private static func names(_ known: UsageFacts, _ purchase: PurchaseFacts) -> [String] {
        let isOld = purchase.isAdvancedCommerce
        let isRenewed = purchase.productType == .autoRenewableSubscription
        let told: [(String, Bool)] = [
            ("deliveryStatus", known.deliveryStatus != nil),
            ("sampleContentProvided", known.sampleContentProvided != nil),
            ("consumptionPercentage", known.consumptionPercentage != nil && (isOld || !isRenewed)),
            ("accountCreatedAt", isOld && known.accountCreatedAt != nil),
            ("playTimeMinutes", isOld && known.playTimeMinutes != nil),
            ("lifetimeCentsPurchased", isOld && known.lifetimeCentsPurchased != nil),
            ("lifetimeCentsRefunded", isOld && known.lifetimeCentsRefunded != nil),
            ("platform", isOld && known.platform != nil), ("userStatus", isOld && known.userStatus != nil),
        ]
        return told.filter(\.1).map(\.0)
    }
}
