import Domain

extension ConfigurationParser {
    /// Reads the `consumptionPolicy` of an app, if it has one.
    mutating func consumptionPolicy(of app: ConfigurationElement) -> ConsumptionPolicy? {
        guard let policy = member("consumptionPolicy", of: app), isTable(policy) else { return nil }
        let answerWindow = Duration.seconds(RefundCase.answerWindow)
        let beforeDeadline = requiredValue(
            "beforeDeadline", of: policy, as: .duration(.seconds(300)...answerWindow))
        guard let answer = member("answer", of: policy) else {
            report(
                policy.origin, key: policy.key(of: "answer"),
                "This key is required; it must be a table with the fields that Apple gets.")
            return nil
        }
        guard isTable(answer), let fields = consumptionFields(answer), let beforeDeadline else { return nil }
        do {
            return ConsumptionPolicy(beforeDeadline: beforeDeadline, answer: try ConsumptionRules.version2(fields))
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
        let percentage = value("consumptionPercentage", of: answer, as: .count(0...100_000))
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
