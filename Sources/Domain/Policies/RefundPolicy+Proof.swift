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

    /// A rule behind one that takes all of its requests.
    private func unreachable(_ index: Int) -> Fault? {
        let rule = rules[index]
        guard let taker = rules[..<index].first(where: { $0.takesAll(of: rule) }) else { return nil }
        return Fault(
            index: index, field: "", rule: "unreachable",
            message:
                "No request reaches the rule `\(rule.name)`: `\(taker.name)` before it takes them all; put it first, or narrow that one."
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

extension RefundRule {
    /// Whether it applies to every request that another one may apply to.
    ///
    /// An answer needs facts, so that a rule which states what Apple requires takes all; so does silence, which needs nothing.
    fileprivate func takesAll(of other: RefundRule) -> Bool {
        guard match.covers(other.match) else { return false }
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
