import Domain
import TestSupport
import Testing

/// How policies are read, and what is found useless in them.
struct RefundPolicyReadingTests {
    private func read(_ rules: [FieldValue]) -> (policy: RefundPolicy?, broken: [String]) {
        var fields = FieldReader(body: ["rules": .array(rules)])
        let policy = fields.refundPolicy("rules")
        return (policy, fields.isValid ? [] : fields.error.violations.map { "\($0.field) \($0.rule)" })
    }

    private func rule(_ name: String, _ members: [String: FieldValue] = [:]) -> FieldValue {
        .object(["rule": .string(name), "answer": .object([:])].merging(members) { $1 })
    }

    private func answer(_ members: [String: FieldValue]) -> [String: FieldValue] { ["answer": .object(members)] }
    private func match(_ members: [String: FieldValue]) -> [String: FieldValue] { ["match": .object(members)] }

    @Test func `a rule is read with all that it may have`() throws {
        let conditions: [String: FieldValue] = [
            "productIds": .array([.string("coins.*")]), "productTypes": .array([.string("Consumable")]),
            "storefronts": .array([.string("USA")]),
            "prices": .array([.object(["currency": .string("USD"), "below": .integer(5000)])]),
            "reasons": .array([.string("OTHER")]),
            "purchaseAge": .object(["atLeast": .string("0s"), "below": .string("2d")]),
            "refunds": .object(["below": .integer(3)]),
            "consumptionPercentage": .object(["atLeast": .integer(1), "below": .integer(100_000)]),
            "deliveryStatuses": .array([.string("DELIVERED")]), "environments": .array([.string("Production")]),
        ]
        let (policy, broken) = read([
            rule(
                "all",
                match(conditions).merging(answer(["refundPreference": .string("GRANT_PRORATED")])) { $1 }
                    .merging(["beforeDeadline": .string("2h")]) { $1 }),
            rule(
                "at-once",
                ["atOnce": .boolean(true)].merging(match(["refunds": .object(["atLeast": .integer(9)])])) { $1 }),
            .object(["rule": .string("rest"), "silence": .boolean(true)]),
        ])
        #expect(broken.isEmpty)
        let rules = try #require(policy).rules
        #expect(rules.map(\.name) == ["all", "at-once", "rest"])
        #expect(rules.map(\.lead) == [.seconds(7200), nil, RefundRule.usualLead])
        #expect(rules[0].outcome == .answer(.grantProrated, .init()) && rules[2].outcome == .silence)
        #expect(rules[0].match.names.count == 10)
        #expect(rules[0].match.prices == ["USD": .init(below: 5000)])
        #expect(rules[0].match.purchaseAge == .init(atLeast: .zero, below: .seconds(172_800)))
    }

    @Test func `whatever is wrong is named where it stands`() {
        #expect(read([]).broken == ["rules count"])
        #expect(read(Array(repeating: rule("a"), count: 101)).broken == ["rules count"])
        #expect(read([.string("a")]).broken == ["rules[0] type"])
        #expect(read([rule("A b")]).broken == ["rules[0].rule format"])
        #expect(read([rule("a", ["wen": .boolean(true)])]).broken == ["rules[0].wen unknownField"])
        #expect(read([.object(["rule": .string("a")])]).broken == ["rules[0].answer required"])
        #expect(read([rule("a", ["silence": .boolean(true)])]).broken == ["rules[0].answer ambiguous"])
        #expect(
            read([rule("a", ["atOnce": .boolean(true), "beforeDeadline": .string("1h")])]).broken
                == ["rules[0].beforeDeadline ambiguous"])
        for time in ["4m", "13h", "soon"] {
            #expect(read([rule("a", ["beforeDeadline": .string(time)])]).broken == ["rules[0].beforeDeadline format"])
        }
        func broken(_ name: String, _ value: FieldValue) -> [String] { read([rule("a", match([name: value]))]).broken }
        #expect(broken("productTypes", .array([.string("Coins")])) == ["rules[0].match.productTypes[0] format"])
        #expect(broken("productIds", .array([.string("a*b")])) == ["rules[0].match.productIds[0] format"])
        #expect(broken("storefronts", .array([])) == ["rules[0].match.storefronts count"])
        #expect(broken("refunds", .object([:])) == ["rules[0].match.refunds.atLeast required"])
        #expect(
            broken("refunds", .object(["atLeast": .integer(3), "below": .integer(3)]))
                == ["rules[0].match.refunds.below range"])
        let dollars: FieldValue = .object(["currency": .string("USD"), "below": .integer(1)])
        #expect(broken("prices", .array([dollars, dollars])) == ["rules[0].match.prices[1].currency repeated"])
        #expect(broken("country", .string("USA")) == ["rules[0].match.country unknownField"])
        #expect(
            read([rule("a", answer(["refundPreference": .string("MAYBE")]))]).broken
                == ["rules[0].answer.refundPreference enum"])
    }

    @Test func `two rules have two names`() {
        #expect(
            read([rule("a", match(["reasons": .array([.string("LEGAL")])])), rule("a")]).broken == [
                "rules[1].rule repeated"
            ])
    }

    @Test func `a rule that another takes everything from is told`() {
        let silent: [String: FieldValue] = ["rule": .string("silent"), "silence": .boolean(true)]
        let coins = match(["productIds": .array([.string("coins.*")])])
        let one = match(["productIds": .array([.string("coins.100")]), "reasons": .array([.string("OTHER")])])
        let unreachable = ["rules[1] unreachable"]
        #expect(read([.object(silent), rule("late")]).broken == unreachable)
        #expect(read([.object(silent.merging(coins) { $1 }), rule("late", one)]).broken == unreachable)
        #expect(read([.object(silent.merging(one) { $1 }), rule("late", coins)]).broken.isEmpty)
        // An answer needs facts: what is not answered for want of them comes to the next.
        #expect(read([rule("first"), .object(silent)]).broken.isEmpty)
        #expect(read([rule("first"), rule("same")]).broken == unreachable)
        let stated = answer(["deliveryStatus": .string("DELIVERED"), "sampleContentProvided": .boolean(true)])
        #expect(read([rule("first"), rule("stated", stated)]).broken.isEmpty)
        #expect(
            read([rule("prorated", answer(["refundPreference": .string("GRANT_PRORATED")])), rule("rest")]).broken
                .isEmpty)
        let young = match(["purchaseAge": .object(["below": .string("1h")])])
        let older = match(["purchaseAge": .object(["below": .string("2h")])])
        #expect(read([rule("young", young), rule("older", older)]).broken.isEmpty)
        #expect(read([rule("older", older), rule("young", young)]).broken == unreachable)
    }

    @Test func `an answer that Apple never takes about a type of product is told`() {
        func prorated(_ type: String, _ members: [String: FieldValue]) -> [String] {
            read([
                rule(
                    "a",
                    match(["productTypes": .array([.string(type)])].merging(members) { $1 })
                        .merging(answer(["refundPreference": .string("GRANT_PRORATED")])) { $1 })
            ]).broken
        }
        let undelivered: [String: FieldValue] = ["deliveryStatuses": .array([.string("UNDELIVERED_OTHER")])]
        let unused: [String: FieldValue] = ["consumptionPercentage": .object(["below": .integer(1)])]
        #expect(prorated("Consumable", [:]).isEmpty)
        #expect(prorated("Consumable", undelivered) == ["rules[0].answer.refundPreference prorated"])
        #expect(prorated("Consumable", unused) == ["rules[0].answer.refundPreference prorated"])
        #expect(prorated("Auto-Renewable Subscription", undelivered).isEmpty)
        // Where a report says that it was delivered, this rule can answer.
        let stated: [String: FieldValue] = [
            "match": .object([
                "productTypes": .array([.string("Consumable")]),
                "consumptionPercentage": .object(["atLeast": .integer(1)]),
            ]),
            "answer": .object([
                "refundPreference": .string("GRANT_PRORATED"), "deliveryStatus": .string("UNDELIVERED_OTHER"),
            ]),
        ]
        #expect(read([rule("a", stated)]).broken.isEmpty)
        let used = answer(["deliveryStatus": .string("UNDELIVERED_OTHER"), "consumptionPercentage": .integer(1)])
        #expect(read([rule("a", used)]).broken == ["rules[0].answer.consumptionPercentage undelivered"])
    }

    @Test func `in a file numbers and truths are texts`() throws {
        var fields = FieldReader(body: [
            "rules": .array([
                .object([
                    "rule": .string("a"), "atOnce": .string("true"), "answer": .object([:]),
                    "match": .object(["refunds": .object(["below": .string("3")])]),
                ])
            ])
        ])
        fields.takeTexts()
        let rule = try #require(fields.refundPolicy("rules")?.rules.first)
        #expect(fields.isValid && rule.lead == nil && rule.match.refunds == .init(below: 3))
    }
}
