/// What makes a rule of a policy useless: found when the policy is read, not when Apple asks.
extension RefundPolicy {
    /// What is wrong with a rule.
    struct Fault: Equatable {
        /// The rule's place.
        let index: Int
        /// Of the rule, with the dot before it; empty for the rule as a whole.
        let field: String
        let rule: String
        let message: String
    }

    /// Every rule that no request can reach, that has another one's name, or that breaks Apple's rules whatever is known.
    var faults: [Fault] {
        rules.indices.flatMap { index in
            [repeated(index), unreachable(index), unanswerable(index)].compactMap(\.self)
        }
    }

    private func repeated(_ index: Int) -> Fault? {
        guard rules[..<index].contains(where: { $0.name == rules[index].name }) else { return nil }
        return Fault(
            index: index, field: ".rule", rule: "repeated",
            message: "Another rule has the name `\(rules[index].name)`; reports tell rules apart by their names.")
    }

    /// A rule behind one, or several together, that take all of its requests.
    private func unreachable(_ index: Int) -> Fault? {
        let rule = rules[index]
        var partition = RulePartition(rules[..<index], before: rule)
        guard partition.isTaken(rule) else { return nil }
        let takers = rules[..<index].map(\.name).filter(partition.takers.contains).map { "`\($0)`" }
        let (verb, narrow) = takers.count == 1 ? ("takes", "that one") : ("take", "one of those")
        return Fault(
            index: index, field: "", rule: "unreachable",
            message:
                "No request reaches the rule `\(rule.name)`: \(takers.joined(separator: ", ")) before it \(verb) them all; put it first, or narrow \(narrow)."
        )
    }

    /// A rule whose answer Apple would refuse about one of the product types that it names, whatever is known.
    ///
    /// One that names no type is for subscriptions too, about which Apple takes every preference.
    private func unanswerable(_ index: Int) -> Fault? {
        let rule = rules[index]
        guard case .answer(let preference, let statement) = rule.outcome else { return nil }
        if let status = statement.deliveryStatus, status != .delivered, (statement.consumptionPercentage ?? 0) != 0 {
            return Fault(
                index: index, field: ".answer.consumptionPercentage", rule: "undelivered",
                message: "`consumptionPercentage` must be 0 or left out when `deliveryStatus` is not `DELIVERED`.")
        }
        let refused = RefundRule.productTypes.filter { type in
            rule.match.productTypes.contains(type) && !rule.canAnswer(about: type, preference)
        }
        guard !refused.isEmpty else { return nil }
        let types = refused.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        return Fault(
            index: index, field: ".answer.refundPreference", rule: "prorated",
            message:
                "Apple takes no `GRANT_PRORATED` about \(types) of which nothing or all was consumed, as this rule has it; prefer `GRANT_FULL` or `DECLINE`."
        )
    }
}

/// Divides a rule's requests into parts until each is taken by one rule before it, or one is found that none takes.
///
/// Parts are made along conditions of which every request has exactly one known value: environments, and whatever the rule itself asks
/// for. What it leaves open, such as the product, has values that nobody can list; there only a rule that leaves it open too takes all.
private struct RulePartition {
    /// The most parts of one rule that are looked at; with more it counts as reachable.
    private static let maximumParts = 1000

    /// The names of the rules that take parts.
    private(set) var takers: Set<String> = []
    /// Those that take whatever they match of the rule's requests.
    private let candidates: [RefundRule]
    private var parts = 0

    init(_ earlier: ArraySlice<RefundRule>, before rule: RefundRule) {
        candidates = earlier.filter { $0.knowsEnough(for: rule) }
    }

    /// Whether every request that a rule may apply to is taken by one before it.
    mutating func isTaken(
        _ rule: RefundRule, by dimensions: ArraySlice<RefundMatch.Dimension> = RefundMatch.Dimension.allCases[...]
    ) -> Bool {
        parts += 1
        guard parts <= Self.maximumParts, !candidates.isEmpty else { return false }
        if let taker = candidates.first(where: { $0.match.covers(rule.match) }) {
            takers.insert(taker.name)
            return true
        }
        for (index, dimension) in zip(dimensions.indices, dimensions)
        where candidates.contains(where: { $0.match.names.contains(dimension.condition) }) {
            let found = rule.match.parts(by: dimension, among: candidates.map(\.match))
            guard found.count > 1 else { continue }
            for part in found {
                let narrowed = RefundRule(name: rule.name, match: part, outcome: rule.outcome, lead: rule.lead)
                guard isTaken(narrowed, by: dimensions[(index + 1)...]) else { return false }
            }
            return true
        }
        return false
    }
}

extension RefundMatch {
    /// What requests can be divided by.
    fileprivate enum Dimension: String, CaseIterable {
        case environment, productType, storefront, reason, deliveryStatus, productId, currency
        case price, purchaseAge, refunds, consumptionPercentage

        /// The name of the condition that it is of.
        var condition: String { self == .currency ? Dimension.price.rawValue : rawValue }
    }

    /// Matches that together are met by the requests that meet this one, each by those of a value or a range; one or none where it
    /// cannot be divided.
    fileprivate func parts(by dimension: Dimension, among others: [RefundMatch]) -> [RefundMatch] {
        switch dimension {
        case .environment:
            each(\.environments, environments.isEmpty ? Set(AppStoreEnvironment.allCases) : environments)
        case .productType: each(\.productTypes, productTypes)
        case .storefront: each(\.storefronts, storefronts)
        case .reason: each(\.reasons, reasons)
        case .deliveryStatus: each(\.deliveryStatuses, deliveryStatuses)
        case .productId: products.map { product in changed { $0.products = [product] } }
        case .currency: prices.map { currency, bounds in changed { $0.prices = [currency: bounds] } }
        case .price:
            prices.count > 1
                ? []
                : prices.flatMap { currency, bounds in
                    bounds.divided(by: others.compactMap { $0.prices[currency] }).map { range in
                        changed { $0.prices = [currency: range] }
                    }
                }
        // Every purchase has an age; the rest may not be known, and then only who asks for it knows a value.
        case .purchaseAge: ranges(\.purchaseAge, purchaseAge ?? Bounds(), others)
        case .refunds: refunds.map { ranges(\.refunds, $0, others) } ?? []
        case .consumptionPercentage:
            consumptionPercentage.map { ranges(\.consumptionPercentage, $0, others) } ?? []
        }
    }

    private func changed(_ change: (inout RefundMatch) -> Void) -> RefundMatch {
        var copy = self
        change(&copy)
        return copy
    }

    private func each<Value>(_ path: WritableKeyPath<RefundMatch, Set<Value>>, _ values: Set<Value>) -> [RefundMatch] {
        values.map { value in changed { $0[keyPath: path] = [value] } }
    }

    private func ranges<Value>(
        _ path: WritableKeyPath<RefundMatch, Bounds<Value>?>, _ bounds: Bounds<Value>, _ others: [RefundMatch]
    ) -> [RefundMatch] {
        bounds.divided(by: others.compactMap { $0[keyPath: path] }).map { range in
            changed { $0[keyPath: path] = range }
        }
    }
}

extension RefundMatch.Bounds {
    /// These bounds, cut at the ends of others.
    fileprivate func divided(by others: [Self]) -> [Self] {
        let ends = Set(others.flatMap { [$0.atLeast, $0.below].compactMap(\.self) })
            .filter { end in (atLeast.map { $0 < end } ?? true) && (below.map { end < $0 } ?? true) }.sorted()
        return zip([atLeast] + ends, ends.map(Optional.init) + [below]).map { Self(atLeast: $0, below: $1) }
    }
}

extension RefundRule {
    /// Whether it applies to every request that another one may apply to and that it matches.
    ///
    /// An answer needs facts, so that a rule which states what Apple requires takes all; so does silence, which needs nothing.
    fileprivate func knowsEnough(for other: RefundRule) -> Bool {
        guard case .answer(let preference, let statement) = outcome else { return true }
        guard case .answer(let others, let otherStatement) = other.outcome else { return false }
        // What the other one needs to be known is known where that one applies.
        let needsStatus = statement.deliveryStatus == nil && otherStatement.deliveryStatus != nil
        let needsSample = statement.sampleContentProvided == nil && otherStatement.sampleContentProvided != nil
        let isProrated = preference == .grantProrated
        let needsPart =
            isProrated
            && (others != .grantProrated
                || statement.consumptionPercentage == nil && otherStatement.consumptionPercentage != nil)
        // What is stated beside what is known may contradict it; then the other one may apply.
        let mayContradict = statement != otherStatement && statement != RefundRule.Statement()
        return !needsStatus && !needsSample && !needsPart && !mayContradict
    }

    /// Whether there is any purchase of a type about which Apple would take the answer.
    fileprivate func canAnswer(
        about type: ProductType, _ preference: ConsumptionV2.RefundPreference?
    ) -> Bool {
        guard preference == .grantProrated, type != .autoRenewableSubscription else { return true }
        // Where no condition asks for a status, a report may say otherwise than the statement.
        guard match.deliveryStatuses.isEmpty || match.deliveryStatuses.contains(.delivered) else { return false }
        let partly = RefundMatch.Bounds(atLeast: 1, below: ConsumptionRules.wholePercentage)
        guard let asked = match.consumptionPercentage else { return true }
        return max(asked.atLeast ?? 0, partly.atLeast ?? 0) < min(asked.below ?? .max, partly.below ?? .max)
    }
}
