import Foundation
import TestSupport
import Testing

@testable import Domain

/// Whether what is proved of policies is true of what they decide: random policies over random requests.
struct RefundPolicyProofTests {
    private static let seed: UInt64 = 20_261_123

    @Test func `a rule that is told to be out of reach is never the one that applies`() throws {
        var random = SeededRandom(seed: Self.seed)
        var proved = 0
        for _ in 0..<2000 {
            let policy = RefundPolicy(rules: (0..<4).map { Self.rule("\($0)", &random) })
            let unreachable = policy.faults.filter { $0.rule == "unreachable" }.map { policy.rules[$0.index].name }
            guard !unreachable.isEmpty else { continue }
            proved += 1
            for _ in 0..<60 {
                let facts = Self.facts(&random)
                guard let name = policy.decide(facts, at: Self.now).decision.rule?.name else { continue }
                guard unreachable.contains(name) else { continue }
                Issue.record("seed \(Self.seed): `\(name)` of \(policy) applies to \(facts)")
                return
            }
        }
        // Or nothing was looked at.
        #expect(proved > 30)
    }

    @Test func `a rule that several before it take everything from together is told, with their names`() {
        func rule(_ name: String, _ change: (inout RefundMatch) -> Void) -> RefundRule {
            var match = RefundMatch()
            change(&match)
            return RefundRule(name: name, match: match, outcome: .silence)
        }
        func unreachable(_ rules: RefundRule...) -> [String] {
            RefundPolicy(rules: rules).faults.filter { $0.rule == "unreachable" }.map { rules[$0.index].name }
        }
        let sandbox = rule("sandbox") { $0.environments = [.sandbox] }
        let production = rule("production") { $0.environments = [.production] }
        let rest = rule("rest") { _ in }
        #expect(unreachable(sandbox, production, rest) == ["rest"])
        #expect(unreachable(sandbox, rest, production) == ["production"])
        let message =
            RefundPolicy(rules: [sandbox, rule("unused") { $0.reasons = ["LEGAL"] }, production, rest])
            .faults.first?.message ?? ""
        #expect(message.contains("`sandbox`, `production` before it take them all") && !message.contains("unused"))
        // What a rule leaves open has values that nobody can list.
        let types = [ProductType.consumable, .nonConsumable, .nonRenewingSubscription, .autoRenewableSubscription]
        let byType = types.map { type in rule(type.rawValue) { $0.productTypes = [type] } }
        #expect(RefundPolicy(rules: byType + [rest]).faults.isEmpty)
        let named = rule("named") { $0.productTypes = [.consumable, .nonConsumable] }
        #expect(RefundPolicy(rules: byType + [named]).faults.map(\.index) == [4])
        // Ranges that meet, and ranges that leave a gap.
        let young = rule("young") { $0.purchaseAge = .init(below: .seconds(3600)) }
        let old = rule("old") { $0.purchaseAge = .init(atLeast: .seconds(3600)) }
        let older = rule("older") { $0.purchaseAge = .init(atLeast: .seconds(3601)) }
        #expect(unreachable(young, old, rest) == ["rest"] && unreachable(young, older, rest).isEmpty)
        let often = rule("often") { $0.refunds = .init(atLeast: 2) }
        let seldom = rule("seldom") { $0.refunds = .init(below: 2) }
        let known = rule("known") { $0.refunds = .init(atLeast: 0) }
        #expect(unreachable(often, seldom, rest).isEmpty, "whose owner is not known has none")
        #expect(unreachable(often, seldom, known) == ["known"])
        // Two conditions: each part by another rule, and one part by none.
        let cells = [
            ("DEU", AppStoreEnvironment.sandbox), ("DEU", .production), ("FRA", .sandbox), ("FRA", .production),
        ]
        .map { cell in
            rule("\(cell)") { ($0.storefronts, $0.environments) = ([cell.0], [cell.1]) }
        }
        let both = rule("both") { $0.storefronts = ["DEU", "FRA"] }
        #expect(RefundPolicy(rules: cells + [both]).faults.map(\.index) == [4])
        #expect(RefundPolicy(rules: cells.dropLast() + [both]).faults.isEmpty)
    }

    @Test func `what would take too long to prove counts as reachable`() {
        let places = (0..<60).map { "S\($0)" }
        let reasons = (0..<60).map { "R\($0)" }
        var wide = RefundMatch()
        (wide.storefronts, wide.reasons) = (Set(places), Set(reasons))
        let halves: [RefundRule] = [Set(places.prefix(30)), Set(places.suffix(30))].flatMap { storefronts in
            [Set(reasons.prefix(30)), Set(reasons.suffix(30))].map { reasons in
                var match = RefundMatch()
                (match.storefronts, match.reasons) = (storefronts, reasons)
                return RefundRule(
                    name: "\(storefronts.count)-\(reasons.sorted()[0])-\(storefronts.sorted()[0])", match: match,
                    outcome: .silence)
            }
        }
        let rules = halves + [RefundRule(name: "wide", match: wide, outcome: .silence)]
        #expect(!RefundPolicy(rules: rules).faults.contains { $0.rule == "unreachable" })
    }

    @Test func `an answer that is told to be impossible is never made about the types that are told`() throws {
        var random = SeededRandom(seed: Self.seed)
        var (proved, possible) = (0, 0)
        for _ in 0..<1200 {
            let rule = Self.rule("one", prefers: .grantProrated, &random)
            let policy = RefundPolicy(rules: [rule])
            let isRefused = policy.faults.contains { $0.rule == "prorated" }
            for _ in 0..<60 {
                let facts = Self.facts(&random)
                guard case .answer = policy.decide(facts, at: Self.now).decision else { continue }
                guard isRefused, facts.refundCase.purchase.productType != .autoRenewableSubscription else {
                    possible += 1
                    continue
                }
                Issue.record("seed \(Self.seed): \(rule) answers about \(facts)")
                return
            }
            proved += isRefused ? 1 : 0
        }
        #expect(proved > 30 && possible > 100)
    }

    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    /// Few values of each kind, so that rules overlap.
    private static func rule(
        _ name: String, prefers preferred: ConsumptionV2.RefundPreference? = nil, _ random: inout SeededRandom
    ) -> RefundRule {
        var match = RefundMatch()
        if one(in: 3, &random) { match.products = pick([.init("coins.100"), .init("coins.*"), .init("*")], &random) }
        if one(in: 2, &random) { match.productTypes = Set(pick(types, &random)) }
        if one(in: 4, &random) { match.storefronts = Set(pick(["USA", "FRA"], &random)) }
        if one(in: 4, &random) { match.prices = ["USD": bounds([1000, 4990, 5000], &random)] }
        if one(in: 4, &random) { match.reasons = Set(pick(["OTHER", "LEGAL"], &random)) }
        if one(in: 4, &random) { match.purchaseAge = bounds([.seconds(3600), .seconds(7200)], &random) }
        if one(in: 4, &random) { match.refunds = bounds([1, 2], &random) }
        if one(in: 3, &random) { match.consumptionPercentage = bounds([0, 1, 50_000, 100_000], &random) }
        if one(in: 3, &random) { match.deliveryStatuses = Set(pick([.delivered, .undeliveredOther], &random)) }
        if one(in: 4, &random) { match.environments = Set(pick([.sandbox, .production], &random)) }
        if preferred == nil, one(in: 5, &random) { return RefundRule(name: name, match: match, outcome: .silence) }
        let statement = RefundRule.Statement(
            deliveryStatus: maybe([.delivered, .undeliveredOther], &random),
            sampleContentProvided: maybe([true, false], &random),
            consumptionPercentage: maybe([0, 50_000, 100_000], &random))
        let preference = preferred ?? maybe([.grantFull, .decline, .grantProrated], &random)
        return RefundRule(name: name, match: match, outcome: .answer(preference, statement))
    }

    private static func facts(_ random: inout SeededRandom) -> RefundPolicy.Facts {
        var usage = UsageFacts()
        usage.deliveryStatus = maybe([.delivered, .undeliveredOther], &random)
        usage.sampleContentProvided = maybe([true, false], &random)
        usage.consumptionPercentage = maybe([0, 1, 50_000, 100_000], &random)
        return RefundPolicyTests.facts(
            product: maybe(["coins.100", "coins.200", "gems"], &random), type: one(of: types, &random),
            terms: PurchaseTerms(
                price: maybe([1000, 4990, 5000], &random), currency: maybe(["USD", "EUR"], &random),
                storefront: maybe(["USA", "FRA"], &random)),
            reason: maybe(["OTHER", "LEGAL"], &random), hours: one(of: [0.5, 1.5, 5], &random),
            environment: one(of: [.sandbox, .production], &random),
            isAdvancedCommerce: one(in: 5, &random), isFamilyShared: one(in: 10, &random),
            usage: one(in: 6, &random) ? nil : usage, refunds: maybe([0, 1, 2], &random))
    }

    private static let types: [ProductType] = [
        .consumable, .nonConsumable, .nonRenewingSubscription, .autoRenewableSubscription,
    ]

    private static func one(in count: Int, _ random: inout SeededRandom) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    private static func one<Value>(of values: [Value], _ random: inout SeededRandom) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }

    /// One of some values, or none.
    private static func maybe<Value>(_ values: [Value], _ random: inout SeededRandom) -> Value? {
        one(in: values.count + 1, &random) ? nil : one(of: values, &random)
    }

    /// One or more of some values.
    private static func pick<Value>(_ values: [Value], _ random: inout SeededRandom) -> [Value] {
        Array(values.shuffled(using: &random).prefix(Int.random(in: 1...values.count, using: &random)))
    }

    /// At least one bound.
    private static func bounds<Value: Comparable & Hashable & Sendable>(
        _ values: [Value], _ random: inout SeededRandom
    ) -> RefundMatch.Bounds<Value> {
        let ends = values.shuffled(using: &random).prefix(2).sorted()
        return switch Int.random(in: 0..<3, using: &random) {
        case 0: .init(atLeast: ends[0])
        case 1: .init(below: ends[1])
        default: .init(atLeast: ends[0], below: ends[1])
        }
    }
}
