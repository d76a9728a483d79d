import Domain
import Foundation
import TestSupport
import Testing

/// The rules that need the purchase.
struct ConsumptionPurchaseRulesTests {
    private typealias Status = ConsumptionV2.DeliveryStatus
    private typealias Preference = ConsumptionV2.RefundPreference

    private func answer(
        _ status: ConsumptionV2.DeliveryStatus = .delivered, percentage: Int32? = nil,
        preference: ConsumptionV2.RefundPreference? = nil
    ) -> ConsumptionAnswer {
        .v2(
            ConsumptionV2(
                deliveryStatus: status, sampleContentProvided: false, consumptionPercentage: percentage,
                refundPreference: preference))
    }

    private func percentage(_ verdict: ConsumptionRules.Verdict) -> Int32? {
        if case .v2(let fields) = verdict.answer { fields.consumptionPercentage } else { nil }
    }

    private func errors(_ answer: ConsumptionAnswer, _ transaction: Transaction) -> [String] {
        ConsumptionRulesTests.violations { () throws(ServiceError) in
            _ = try ConsumptionRules.check(answer, against: transaction.facts)
        }
        .compactMap { $0.appleError?.name }
    }

    @Test func `an undelivered consumable gets the missing percentage filled in as 0`() throws {
        let verdict = try ConsumptionRules.check(
            answer(.undeliveredOther), against: Transaction.sample(type: .consumable).facts)
        #expect(percentage(verdict) == 0)
    }

    @Test func `an undelivered auto-renewable subscription keeps the percentage out`() throws {
        let verdict = try ConsumptionRules.check(
            answer(.undeliveredOther), against: Transaction.sample(type: .autoRenewableSubscription).facts)
        #expect(percentage(verdict) == nil)
    }

    @Test func `a percentage is refused for an auto-renewable subscription, even 0`() {
        for value: Int32 in [0, 1] {
            #expect(
                errors(answer(percentage: value), .sample(type: .autoRenewableSubscription))
                    == ["ConsumptionPercentageAutoRenewableSubscriptionError"])
        }
    }

    @Test func `a prorated refund without a percentage is allowed and warned of`() throws {
        let verdict = try ConsumptionRules.check(
            answer(preference: .grantProrated), against: Transaction.sample(type: .nonConsumable).facts)
        #expect(verdict.warnings.count == 1)
        #expect(percentage(verdict) == nil)
    }

    @Test func `a prorated refund of a subscription needs no percentage and no warning`() throws {
        let verdict = try ConsumptionRules.check(
            answer(.undeliveredOther, preference: .grantProrated),
            against: Transaction.sample(type: .autoRenewableSubscription).facts)
        #expect(verdict.warnings.isEmpty)
    }

    @Test func `a prorated refund of something undelivered or wholly used is refused`() {
        let consumable = Transaction.sample(type: .consumable)
        #expect(
            errors(answer(.undeliveredOther, preference: .grantProrated), consumable) == [
                "InvalidRefundPreferenceError"
            ])
        for value: Int32 in [0, 100_000] {
            #expect(
                errors(answer(percentage: value, preference: .grantProrated), consumable)
                    == ["InvalidRefundPreferenceError"])
        }
        #expect(errors(answer(percentage: 1, preference: .grantProrated), consumable).isEmpty)
        #expect(errors(answer(percentage: 99_999, preference: .grantProrated), consumable).isEmpty)
    }

    @Test func `a family-shared purchase and one of Advanced Commerce are refused in version 2, both at once`() {
        let transaction = Transaction.sample(type: .consumable, isFamilyShared: true, isAdvancedCommerce: true)
        #expect(
            errors(answer(), transaction)
                == ["FamilyTransactionNotSupportedError", "AdvancedCommerceTransactionNotSupportedError"])
    }

    @Test func `the end of a case is no lengthening when it is given back, however its time has added up`() {
        for count in 0..<1000 {
            let milliseconds = 1_700_000_000_000 + count * 7919
            func time(_ milliseconds: Int) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
            let signed = time(milliseconds)
            let latest = signed.addingTimeInterval(12 * 3600)
            for (more, expected) in [(-1, []), (0, []), (1, ["latest"])] {
                let given = time(milliseconds + 12 * 3_600_000 + more)
                let found = ConsumptionRules.violations(ofDeadline: given, latest: latest, at: signed)
                #expect(found.map(\.rule) == expected, "\(milliseconds) \(more)")
            }
        }
    }

    @Test func `version 1 is for every purchase but a shared one, and deprecated except for Advanced Commerce`() throws
    {
        let fields = ConsumptionV1(
            accountTenure: 0, appAccountToken: "", consumptionStatus: 0, deliveryStatus: 0, lifetimeDollarsPurchased: 0,
            lifetimeDollarsRefunded: 0, platform: 0, playTime: 0, refundPreference: nil, sampleContentProvided: false,
            userStatus: 0)
        for type in [ProductType.consumable, .autoRenewableSubscription, .nonConsumable, .nonRenewingSubscription] {
            for isAdvancedCommerce in [true, false] {
                let purchase = Transaction.sample(type: type, isAdvancedCommerce: isAdvancedCommerce).facts
                let verdict = try ConsumptionRules.check(.v1(fields), against: purchase)
                #expect(verdict.answer == .v1(fields))
                #expect(verdict.warnings.map { $0.contains("version 2") } == (isAdvancedCommerce ? [] : [true]))
            }
            for isAdvancedCommerce in [true, false] {
                let shared = Transaction.sample(
                    type: type, isFamilyShared: true, isAdvancedCommerce: isAdvancedCommerce)
                #expect(errors(.v1(fields), shared) == ["FamilyTransactionNotSupportedError"])
            }
        }
        let unknown = try ConsumptionRules.check(.v1(fields), against: nil)
        #expect(unknown.answer == .v1(fields) && unknown.warnings.count == 1)
        #expect(try ConsumptionRules.check(answer(.undeliveredOther), against: nil).warnings.isEmpty)
    }
}
