import Domain

extension ConfigurationParser {
    /// Reads how an app answers refund requests by itself: by the rules of its `refundPolicy`, or with the one answer of its
    /// `consumptionPolicy`.
    mutating func refundPolicy(of app: ConfigurationElement) -> RefundPolicy? {
        let (policy, answer) = (member("refundPolicy", of: app), member("consumptionPolicy", of: app))
        if let policy, answer != nil {
            report(
                policy.origin, key: policy.key,
                "Give `refundPolicy` or `consumptionPolicy`, not both; the latter is a policy of one rule.")
        }
        if let answer { return onlyAnswer(answer) }
        return policy.flatMap { rules($0, of: app) }
    }

    private mutating func rules(_ policy: ConfigurationElement, of app: ConfigurationElement) -> RefundPolicy? {
        let name = "refundPolicy"
        var fields = FieldReader(body: [name: policy.fieldValue])
        fields.takeTexts()
        let read = fields.refundPolicy(name)
        for violation in fields.isValid ? [] : fields.error.violations {
            let key = app.key(of: violation.field)
            // Its message repeats the name of a field that is not known.
            let isName = violation.field.split(separator: ".").allSatisfy { QuotableText.name($0) == $0 }
            report(
                app.nearest(to: key)?.origin ?? policy.origin, key: key,
                isName ? violation.message : "This key is not known here; remove it.")
        }
        return fields.isValid ? read : nil
    }

    /// Reads a `consumptionPolicy`: a policy of one rule that is for every request.
    private mutating func onlyAnswer(_ policy: ConfigurationElement) -> RefundPolicy? {
        guard isTable(policy) else { return nil }
        let lead = requiredValue("beforeDeadline", of: policy, as: .duration(RefundRule.leads))
        guard let answer = member("answer", of: policy) else {
            report(
                policy.origin, key: policy.key(of: "answer"),
                "This key is required; it must be a table with the fields that Apple gets.")
            return nil
        }
        guard isTable(answer), let fields = consumptionFields(answer), let lead else { return nil }
        do {
            let read = try ConsumptionRules.version2(fields)
            let statement = RefundRule.Statement(
                deliveryStatus: read.deliveryStatus, sampleContentProvided: read.sampleContentProvided,
                consumptionPercentage: read.consumptionPercentage)
            return RefundPolicy(rules: [
                RefundRule(name: "consumption-policy", outcome: .answer(read.refundPreference, statement), lead: lead)
            ])
        } catch {
            for violation in error.violations {
                let origin = member(violation.field, of: answer)?.origin ?? answer.origin
                report(origin, key: answer.key(of: violation.field), violation.message)
            }
            return nil
        }
    }

    /// The fields of an answer, as a caller would send them; nil after a problem was reported.
    ///
    /// That the customer has consented is what the policy looks for in each case, so it is no field here.
    private mutating func consumptionFields(_ answer: ConfigurationElement) -> [String: FieldValue]? {
        let count = problems.count
        let status = requiredValue(
            "deliveryStatus", of: answer, as: ConfigurationValue<ConsumptionV2.DeliveryStatus>.oneOf)
        let sample = requiredValue("sampleContentProvided", of: answer, as: .bool)
        let percentage = value(
            "consumptionPercentage", of: answer, as: .count(ConfigurationDefaults.Apps.consumptionPercentage))
        let preference = value(
            "refundPreference", of: answer, as: ConfigurationValue<ConsumptionV2.RefundPreference>.oneOf)
        guard problems.count == count, let status, let sample else { return nil }
        var fields: [String: FieldValue] = [
            "customerConsented": .boolean(true), "deliveryStatus": .string(status.rawValue),
            "sampleContentProvided": .boolean(sample),
        ]
        fields["consumptionPercentage"] = percentage.map { .integer(Int64($0)) }
        fields["refundPreference"] = preference.map { .string($0.rawValue) }
        return fields
    }
}

extension ConfigurationElement {
    /// What it holds, every scalar as the text that was written.
    fileprivate var fieldValue: FieldValue {
        switch content {
        case .text(let text): .string(text)
        case .empty: .null
        case .list(let elements): .array(elements.map(\.fieldValue))
        case .table(let members):
            .object(Dictionary(members.map { ($0.name, $0.value.fieldValue) }) { first, _ in first })
        }
    }

    /// The element with a key path, or the nearest around where it would be.
    fileprivate func nearest(to key: String) -> ConfigurationElement? {
        var key = key
        while !key.isEmpty {
            if let found = element(withKey: key) { return found }
            guard let end = key.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            key = String(key[..<end])
        }
        return nil
    }
}
