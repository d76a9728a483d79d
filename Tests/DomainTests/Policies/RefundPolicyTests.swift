import Domain
import Foundation
import TestSupport
import Testing

/// What rules say of requests: matching, and what is sent.
struct RefundPolicyTests {
    /// A request about a consumable of 4.99 USD, asked for five hours after the purchase.
    static func facts(
        product: String? = "coins.100", type: ProductType = .consumable, terms: PurchaseTerms = .sample,
        reason: String? = "UNINTENDED_PURCHASE", hours: Double = 5, environment: AppStoreEnvironment = .production,
        isAdvancedCommerce: Bool = false, isFamilyShared: Bool = false, usage: UsageFacts? = nil, refunds: Int? = 0
    ) -> RefundPolicy.Facts {
        let requested = Date(timeIntervalSince1970: 1_700_000_000)
        let purchase = PurchaseFacts(
            environment: environment, transactionID: "7", originalTransactionID: "7",
            appAccountToken: "6f1c8a52-32c1-4b0b-8a6c-5a4f0f6d9a11", productID: product, productType: type,
            purchaseDate: requested.addingTimeInterval(-hours * 3600), isFamilyShared: isFamilyShared,
            isAdvancedCommerce: isAdvancedCommerce)
        let refundCase = RefundCase(
            id: "c", app: "coins", environment: environment, transactionID: "7", purchase: purchase, terms: terms,
            owner: nil, state: .open, reason: reason, requestedAt: requested, openedAt: requested,
            deadline: requested.addingTimeInterval(RefundCase.answerWindow), requests: [])
        let report = usage.map { facts in
            UsageReport(
                app: "coins", subject: .transaction("7", user: nil), environment: nil, facts: facts, at: requested,
                recordedAt: requested, recordedBy: "game")
        }
        return RefundPolicy.Facts(refundCase: refundCase, usage: report, refunds: refunds)
    }

    static func usage(_ change: (inout UsageFacts) -> Void = { _ in }) -> UsageFacts {
        var usage = UsageFacts()
        (usage.deliveryStatus, usage.sampleContentProvided, usage.consumptionPercentage) = (.delivered, false, 25_000)
        change(&usage)
        return usage
    }

    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func taken(_ facts: RefundPolicy.Facts, _ change: (inout RefundMatch) -> Void) -> Bool {
        var match = RefundMatch()
        change(&match)
        let policy = RefundPolicy(rules: [RefundRule(name: "one", match: match, outcome: .silence)])
        return policy.decide(facts, at: now).decision.rule != nil
    }

    @Test func `each condition is met by what it names, and by nothing else`() {
        let facts = Self.facts(usage: Self.usage(), refunds: 2)
        let sandbox = Self.facts(environment: .sandbox)
        #expect(
            taken(facts) { $0.products = [.init("coins.100")] } && taken(facts) { $0.products = [.init("coins.*")] })
        #expect(!taken(facts) { $0.products = [.init("coins.10")] } && !taken(facts) { $0.products = [.init("gem*")] })
        #expect(taken(facts) { $0.products = [.init("*")] })
        #expect(
            taken(facts) { $0.productTypes = [.consumable] } && !taken(facts) { $0.productTypes = [.nonConsumable] })
        #expect(taken(facts) { $0.storefronts = ["FRA", "USA"] } && !taken(facts) { $0.storefronts = ["FRA"] })
        #expect(taken(facts) { $0.prices = ["USD": .init(atLeast: 4990, below: 4991)] })
        #expect(!taken(facts) { $0.prices = ["USD": .init(below: 4990)] })
        #expect(!taken(facts) { $0.prices = ["EUR": .init(atLeast: 0)] })
        #expect(taken(facts) { $0.reasons = ["UNINTENDED_PURCHASE"] } && !taken(facts) { $0.reasons = ["OTHER"] })
        #expect(taken(facts) { $0.purchaseAge = .init(atLeast: .seconds(5 * 3600), below: .seconds(6 * 3600)) })
        #expect(!taken(facts) { $0.purchaseAge = .init(below: .seconds(5 * 3600)) })
        #expect(taken(facts) { $0.refunds = .init(atLeast: 2) } && !taken(facts) { $0.refunds = .init(below: 2) })
        #expect(taken(facts) { $0.consumptionPercentage = .init(atLeast: 1, below: 25_001) })
        #expect(!taken(facts) { $0.consumptionPercentage = .init(atLeast: 25_001) })
        #expect(taken(facts) { $0.deliveryStatuses = [.delivered] })
        #expect(!taken(facts) { $0.deliveryStatuses = [.undeliveredOther] })
        #expect(taken(sandbox) { $0.environments = [.sandbox] } && !taken(facts) { $0.environments = [.sandbox] })
    }

    @Test func `all conditions of a rule are to be met`() {
        #expect(
            !taken(Self.facts()) { match in
                match.productTypes = [.consumable]
                match.storefronts = ["FRA"]
            })
    }

    @Test func `a condition about what is not known is not met`() {
        let unknown = Self.facts(product: nil, terms: PurchaseTerms(), reason: nil, refunds: nil)
        #expect(!taken(unknown) { $0.products = [.init("*")] })
        #expect(!taken(unknown) { $0.storefronts = ["USA"] } && !taken(unknown) { $0.reasons = ["OTHER"] })
        #expect(!taken(unknown) { $0.prices = ["USD": .init(atLeast: 0)] })
        #expect(!taken(unknown) { $0.refunds = .init(atLeast: 0) })
        #expect(!taken(unknown) { $0.consumptionPercentage = .init(atLeast: 0) })
        #expect(!taken(unknown) { $0.deliveryStatuses = Set(ConsumptionV2.DeliveryStatus.allCases) })
        let noCurrency = Self.facts(terms: PurchaseTerms(price: 1))
        #expect(!taken(noCurrency) { $0.prices = ["USD": .init(atLeast: 0)] })
    }

    @Test func `the first rule that applies decides, and those before it say why they do not`() throws {
        var french = RefundMatch()
        french.storefronts = ["FRA"]
        let policy = RefundPolicy(rules: [
            RefundRule(name: "french", match: french, outcome: .silence),
            RefundRule(name: "known", outcome: .answer(.decline, .init())),
            RefundRule(name: "rest", outcome: .silence), RefundRule(name: "never", outcome: .silence),
        ])
        let (silent, passed) = policy.decide(Self.facts(), at: now)
        #expect(silent.rule?.name == "rest")
        #expect(passed.map(\.name) == ["french", "known"])
        #expect(passed.map(\.why) == ["`storefront` is another one", "`deliveryStatus` is not known"])
        let (answered, before) = policy.decide(Self.facts(usage: Self.usage()), at: now)
        #expect(answered.rule?.name == "known" && before.map(\.name) == ["french"])
        let (none, all) = RefundPolicy(rules: [policy.rules[0]]).decide(Self.facts(), at: now)
        #expect(none == .undecided && all.count == 1)
    }

    private func answer(
        _ preference: ConsumptionV2.RefundPreference?, _ statement: RefundRule.Statement = .init(),
        _ facts: RefundPolicy.Facts
    ) -> (answer: ConsumptionAnswer, trace: PolicyTrace)? {
        let policy = RefundPolicy(rules: [RefundRule(name: "one", outcome: .answer(preference, statement))])
        guard case .answer(_, let answer, let trace) = policy.decide(facts, at: now).decision else { return nil }
        return (answer, trace)
    }

    @Test func `what was reported is sent, and what the rule states stands in where nothing was`() throws {
        let statement = RefundRule.Statement(
            deliveryStatus: .undeliveredOther, sampleContentProvided: true, consumptionPercentage: 0)
        let reported = try #require(answer(.decline, statement, Self.facts(usage: Self.usage())))
        #expect(
            reported.answer
                == .v2(
                    ConsumptionV2(
                        deliveryStatus: .delivered, sampleContentProvided: false, consumptionPercentage: 25_000,
                        refundPreference: .decline)))
        #expect(reported.trace.facts == ["deliveryStatus", "sampleContentProvided", "consumptionPercentage"])
        #expect(reported.trace.usageAt == now && reported.trace.rule == "one")
        let stated = try #require(answer(nil, statement, Self.facts()))
        #expect(
            stated.answer
                == .v2(
                    ConsumptionV2(
                        deliveryStatus: .undeliveredOther, sampleContentProvided: true, consumptionPercentage: 0)))
        #expect(stated.trace == PolicyTrace(rule: "one", facts: [], usageAt: nil))
    }

    @Test func `nothing is guessed: without what Apple requires a rule does not apply`() {
        #expect(answer(nil, .init(deliveryStatus: .delivered), Self.facts()) == nil)
        #expect(answer(nil, .init(sampleContentProvided: true), Self.facts()) == nil)
        let partly = Self.usage { $0.consumptionPercentage = nil }
        #expect(answer(.grantProrated, .init(), Self.facts(usage: partly)) == nil, "nobody knows the part")
        #expect(answer(.grantFull, .init(), Self.facts(usage: partly)) != nil, "Apple takes it without")
        for whole in [0, 100_000] as [Int32] {
            #expect(
                answer(.grantProrated, .init(), Self.facts(usage: Self.usage { $0.consumptionPercentage = whole }))
                    == nil)
        }
        let undelivered = RefundRule.Statement(deliveryStatus: .undeliveredOther, sampleContentProvided: true)
        #expect(
            answer(nil, undelivered, Self.facts(usage: Self.usage { $0.deliveryStatus = nil })) == nil,
            "a purchase that was used is not said to be undelivered")
        #expect(answer(nil, .init(), Self.facts(isFamilyShared: true, usage: Self.usage())) == nil)
    }

    @Test func `of a subscription no percentage is sent, and a prorated refund needs none`() throws {
        let facts = Self.facts(type: .autoRenewableSubscription, usage: Self.usage())
        let made = try #require(answer(.grantProrated, .init(), facts))
        #expect(
            made.answer
                == .v2(
                    ConsumptionV2(
                        deliveryStatus: .delivered, sampleContentProvided: false, refundPreference: .grantProrated)))
        #expect(made.trace.facts == ["deliveryStatus", "sampleContentProvided"])
    }

    @Test func `about Advanced Commerce version 1 is sent, with the codes of what was reported`() throws {
        let usage = Self.usage { usage in
            usage.playTimeMinutes = 60
            usage.lifetimeCentsPurchased = 5000
            usage.accountCreatedAt = now.addingTimeInterval(-10 * 86_400)
        }
        let facts = Self.facts(isAdvancedCommerce: true, usage: usage)
        let made = try #require(answer(.decline, .init(), facts))
        #expect(
            made.answer
                == .v1(
                    ConsumptionV1(
                        accountTenure: 3, appAccountToken: "6f1c8a52-32c1-4b0b-8a6c-5a4f0f6d9a11",
                        consumptionStatus: 2, deliveryStatus: 0, lifetimeDollarsPurchased: 3,
                        lifetimeDollarsRefunded: 0, platform: 0, playTime: 3, refundPreference: 2,
                        sampleContentProvided: false, userStatus: 0)))
        #expect(answer(.grantProrated, .init(), facts) == nil, "version 1 cannot say so")
        #expect(try #require(answer(nil, .init(), facts)).answer.refundPreference == nil)
        #expect(try #require(answer(.grantFull, .init(), facts)).answer.refundPreference == .grantFull)
    }
}

extension PurchaseTerms {
    static let sample = PurchaseTerms(price: 4990, currency: "USD", storefront: "USA")
}
