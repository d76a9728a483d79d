// How a policy is read, from the configuration and from requests alike.

extension FieldReader {
    /// The most entries of one condition of a rule.
    private static let maximumEntries = 200
    /// The longest product id, in bytes.
    private static let maximumProductID = 255

    /// The rules of a policy under a name; nil where one is broken.
    ///
    /// Rules that none of Apple's product types can have, or that no request can reach, are noted too.
    package mutating func refundPolicy(_ name: String, isRequired: Bool = true) -> RefundPolicy? {
        let expected = "an array of 1 to \(RefundPolicy.maximumRules) rules"
        guard let elements = array(name, isRequired: isRequired, expected: expected) else { return nil }
        guard (1...RefundPolicy.maximumRules).contains(elements.count) else {
            note(name, "count", "`\(qualified(name))` must be \(expected); it holds \(elements.count).")
            return nil
        }
        var rules: [RefundRule?] = []
        for (index, value) in elements.enumerated() {
            rules.append(element(value, of: name, at: index, expected: "a rule") { $0.refundRule() })
        }
        let read = rules.compactMap(\.self)
        guard read.count == rules.count else { return nil }
        let policy = RefundPolicy(rules: read)
        for fault in policy.faults { note("\(name)[\(fault.index)]\(fault.field)", fault.rule, fault.message) }
        return policy
    }

    private mutating func refundRule() -> RefundRule? {
        let name = string(
            "rule", expected: "the rule's name: 1 to 64 small letters, digits and hyphens", where: RefundRule.isName)
        let match = object("match", isRequired: false, expected: "an object with the rule's conditions") {
            $0.refundMatch()
        }
        let atOnce = boolean("atOnce", isRequired: false) ?? false
        let lead = duration("beforeDeadline", within: RefundRule.leads)
        if atOnce, lead != nil {
            note("beforeDeadline", "ambiguous", "Give `\(qualified("beforeDeadline"))` or `atOnce`, not both.")
        }
        guard let outcome = refundOutcome(), isValidSoFar, let name else { return nil }
        return RefundRule(
            name: name, match: match ?? RefundMatch(), outcome: outcome,
            lead: atOnce ? nil : lead ?? RefundRule.usualLead)
    }

    private mutating func refundOutcome() -> RefundRule.Outcome? {
        let isSilent = boolean("silence", isRequired: false) ?? false
        if isSilent {
            forbid("answer", "ambiguous", "Leave `\(qualified("answer"))` out where `silence` is `true`.")
            return .silence
        }
        return object("answer", expected: "an object with what Apple gets, which may be empty; or give `silence`") {
            fields in
            let preference = fields.choice(
                "refundPreference", ConsumptionV2.RefundPreference.self, isRequired: false,
                ConsumptionRules.AppleError.refundPreference)
            let statement = RefundRule.Statement(
                deliveryStatus: fields.choice(
                    "deliveryStatus", ConsumptionV2.DeliveryStatus.self, isRequired: false,
                    ConsumptionRules.AppleError.deliveryStatus),
                sampleContentProvided: fields.boolean(
                    "sampleContentProvided", isRequired: false, ConsumptionRules.AppleError.sampleContentProvided),
                consumptionPercentage: fields.integer(
                    "consumptionPercentage", from: 0...ConsumptionRules.wholePercentage, isRequired: false,
                    ConsumptionRules.AppleError.percentageOutOfRange))
            return .answer(preference, statement)
        }
    }

    private mutating func refundMatch() -> RefundMatch {
        var match = RefundMatch()
        match.products = texts("productIds", "a product id, or the beginning of several with `*` at the end") {
            !$0.isEmpty && $0.utf8.count <= Self.maximumProductID && !$0.dropLast().contains("*")
        }.map(RefundMatch.ProductPattern.init)
        let types = RefundRule.productTypes.map(\.rawValue)
        match.productTypes = Set(
            texts("productTypes", "one of " + types.map { "`\($0)`" }.joined(separator: ", "), where: types.contains)
                .map(ProductType.init))
        match.storefronts = Set(
            texts("storefronts", "an ISO 3166-1 alpha-3 country code, such as `USA`", where: StorefrontCountry.isCode))
        match.reasons = Set(
            texts("reasons", "a `consumptionRequestReason` of Apple's, such as `UNINTENDED_PURCHASE`") { text in
                (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x5F }
            })
        match.environments = choices("environments")
        match.deliveryStatuses = choices("deliveryStatuses")
        match.prices = prices()
        match.purchaseAge = bounds("purchaseAge") { fields, name in
            fields.duration(name, within: .zero...(.seconds(36_500 * 86_400)))
        }
        match.refunds = bounds("refunds") { fields, name in
            fields.integer(name, from: 0...1_000_000, isRequired: false)
        }
        match.consumptionPercentage = bounds("consumptionPercentage") { fields, name in
            fields.integer(name, from: 0...ConsumptionRules.wholePercentage, isRequired: false)
        }
        return match
    }

    private mutating func prices() -> [String: RefundMatch.Bounds<Int64>] {
        guard let elements = array("prices", isRequired: false, expected: "an array of prices") else { return [:] }
        guard (1...Self.maximumEntries).contains(elements.count) else {
            note("prices", "count", "`\(qualified("prices"))` must hold 1 to \(Self.maximumEntries) prices.")
            return [:]
        }
        var prices: [String: RefundMatch.Bounds<Int64>] = [:]
        for (index, value) in elements.enumerated() {
            let read = element(value, of: "prices", at: index, expected: "an object with `currency` and bounds") {
                fields -> (String, RefundMatch.Bounds<Int64>)? in
                let currency = fields.string("currency", expected: "an ISO 4217 code, such as `USD`") { code in
                    code.utf8.count == 3 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
                }
                let bounds = fields.bounds { fields, name in
                    fields.integer(name, from: 0...Int64.max / 2, isRequired: false)
                }
                return currency.map { ($0, bounds ?? RefundMatch.Bounds()) }
            }
            guard let (currency, bounds) = read else { continue }
            if prices.updateValue(bounds, forKey: currency) != nil {
                note("prices[\(index)].currency", "repeated", "`\(currency)` stands twice; give each currency once.")
            }
        }
        return prices
    }

    // MARK: Values

    private mutating func texts(_ name: String, _ element: String, where isValid: (String) -> Bool) -> [String] {
        let expected = "an array of 1 to \(Self.maximumEntries) texts"
        let read = strings(
            name, atMost: Self.maximumEntries, isRequired: false, expected: expected, element: element, nil,
            where: isValid)
        if read?.isEmpty == true {
            note(name, "count", "`\(qualified(name))` must be \(expected); leave it out to mean any.")
        }
        return read ?? []
    }

    private mutating func choices<Choice: RawRepresentable & CaseIterable & Hashable>(_ name: String) -> Set<Choice>
    where Choice.RawValue == String {
        let known = Choice.allCases.map(\.rawValue)
        let expected = "one of " + known.map { "`\($0)`" }.joined(separator: ", ")
        return Set(texts(name, expected, where: known.contains).compactMap(Choice.init(rawValue:)))
    }

    private mutating func bounds<Value>(
        _ name: String, _ read: (inout FieldReader, String) -> Value?
    ) -> RefundMatch.Bounds<Value>? {
        object(name, isRequired: false, expected: "an object with `atLeast`, `below` or both") { fields in
            let bounds = fields.bounds(read)
            if bounds == nil, fields.isValidSoFar {
                fields.note(
                    "atLeast", "required",
                    "Give `\(fields.qualified("atLeast"))`, `below` or both; leave `\(name)` out to mean any.")
            }
            return bounds
        }
    }

    /// The bounds that the object itself holds; nil where it holds none, or none that anything lies within.
    private mutating func bounds<Value>(
        _ read: (inout FieldReader, String) -> Value?
    ) -> RefundMatch.Bounds<Value>? {
        let (least, end) = (read(&self, "atLeast"), read(&self, "below"))
        guard least != nil || end != nil else { return nil }
        if let least, let end, least >= end {
            note("below", "range", "`\(qualified("below"))` must be more than `atLeast`; nothing lies between.")
            return nil
        }
        return RefundMatch.Bounds(atLeast: least, below: end)
    }

    private mutating func duration(_ name: String, within range: ClosedRange<Duration>) -> Duration? {
        let bounds = "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        return value(
            name, isRequired: false, expected: "a duration such as `30m`, `1h` or `30d`, from \(bounds)"
        ) { text in DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension RefundRule {
    /// Those of Apple's.
    static let productTypes: [ProductType] = [
        .consumable, .nonConsumable, .nonRenewingSubscription, .autoRenewableSubscription,
    ]

    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
