import Domain
import HTTPTypes
import JSON

/// How an app answers refund requests by itself, and what a policy would have answered.
struct PolicyRoutes: Sendable {
    /// How many cases are tried where the request does not say.
    private static let usualCases = 50

    let trial: PolicyTrial

    /// `GET …/policies`: the policy of the configuration.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let policy = trial.policy(of: app)
        return Answer.object(capacity: 1024) { writer in
            writer.memberArray("rules") { writer in
                for rule in policy?.rules ?? [] { writer.object { PolicyBody.write(rule, to: &$0) } }
            }
        }
    }

    /// `POST …/policies:try`: what a policy says of the latest cases; nothing is sent.
    func run(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let given = fields.refundPolicy("rules", isRequired: false)
        var cases = CaseQuery()
        cases.environment = fields.environment(for: app, in: .body)
        cases.transactionID = fields.identifier("transactionId", .transaction, in: .body, isRequired: false)
        let limit = fields.integer("limit", from: 1...PolicyTrial.maximumCases, isRequired: false)
        let policy = given ?? trial.policy(of: app)
        if policy == nil, fields.isValidSoFar {
            fields.note("rules", "required", "The app has no refund policy; give the `rules` that are to be tried.")
        }
        guard fields.isValid, let policy else { throw fields.error }
        let results = try await trial.results(
            of: policy, app: app, among: cases, upTo: limit ?? Self.usualCases)
        return Answer.object(capacity: 256 + results.count * PolicyBody.size) { writer in
            writer.memberArray("counts") { PolicyBody.writeCounts(results, of: policy, to: &$0) }
            writer.memberArray("results") { writer in
                for result in results { writer.object { PolicyBody.write(result, to: &$0) } }
            }
        }
    }
}

/// Policies and what they say, in our API.
private enum PolicyBody {
    /// Room that a result takes.
    static let size = 512

    static func write(_ result: PolicyTrial.Result, to writer: inout JSONWriter) {
        CaseBody.writeSummary(result.refundCase, to: &writer)
        writer.memberOrNull("outcome", result.refundCase.outcome?.rawValue)
        writer.member("decision", result.decision.name)
        writer.memberOrNull("rule", result.decision.rule?.name)
        writer.member("consentRecorded", result.isConsented)
        writer.memberArray("passedRules") { writer in
            for passed in result.passed {
                writer.object { writer in
                    writer.member("rule", passed.name)
                    writer.member("why", passed.why)
                }
            }
        }
        if let body = result.body { writer.memberRaw("report", body) } else { writer.memberNull("report") }
    }

    /// How many cases each rule took, in the order of the rules; those that none took last, under no name.
    static func writeCounts(_ results: [PolicyTrial.Result], of policy: RefundPolicy, to writer: inout JSONWriter) {
        var counts: [String?: Int] = [:]
        for result in results { counts[result.decision.rule?.name, default: 0] += 1 }
        for name in policy.rules.map(\.name) + [nil] {
            writer.object { writer in
                writer.memberOrNull("rule", name)
                writer.member("cases", counts[name] ?? 0)
            }
        }
    }

    static func write(_ rule: RefundRule, to writer: inout JSONWriter) {
        writer.member("rule", rule.name)
        writer.memberObject("match") { write(rule.match, to: &$0) }
        if let lead = rule.lead {
            writer.member("beforeDeadline", DurationText.text(lead))
        } else {
            writer.member("atOnce", true)
        }
        switch rule.outcome {
        case .silence: writer.member("silence", true)
        case .answer(let preference, let statement):
            writer.memberObject("answer") { writer in
                writer.memberIfPresent("refundPreference", preference?.rawValue)
                writer.memberIfPresent("deliveryStatus", statement.deliveryStatus?.rawValue)
                if let sample = statement.sampleContentProvided { writer.member("sampleContentProvided", sample) }
                writer.memberIfPresent("consumptionPercentage", statement.consumptionPercentage.map(Int64.init))
            }
        }
    }

    private static func write(_ match: RefundMatch, to writer: inout JSONWriter) {
        write("productIds", match.products.map(\.text), to: &writer)
        write("productTypes", match.productTypes.map(\.rawValue).sorted(), to: &writer)
        write("storefronts", match.storefronts.sorted(), to: &writer)
        if !match.prices.isEmpty {
            writer.memberArray("prices") { writer in
                for (currency, bounds) in match.prices.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.member("currency", currency)
                        writer.memberIfPresent("atLeast", bounds.atLeast)
                        writer.memberIfPresent("below", bounds.below)
                    }
                }
            }
        }
        write("reasons", match.reasons.sorted(), to: &writer)
        write("purchaseAge", match.purchaseAge, to: &writer) { name, value, writer in
            writer.member(name, DurationText.text(value))
        }
        write("refunds", match.refunds, to: &writer) { name, value, writer in writer.member(name, Int64(value)) }
        write("consumptionPercentage", match.consumptionPercentage, to: &writer) { name, value, writer in
            writer.member(name, Int64(value))
        }
        write("deliveryStatuses", match.deliveryStatuses.map(\.rawValue).sorted(), to: &writer)
        write("environments", match.environments.map(\.rawValue).sorted(), to: &writer)
    }

    private static func write(_ name: String, _ values: [String], to writer: inout JSONWriter) {
        guard !values.isEmpty else { return }
        writer.memberArray(name) { writer in
            for value in values { writer.value(value) }
        }
    }

    private static func write<Value>(
        _ name: String, _ bounds: RefundMatch.Bounds<Value>?, to writer: inout JSONWriter,
        _ write: (String, Value, inout JSONWriter) -> Void
    ) {
        guard let bounds else { return }
        writer.memberObject(name) { writer in
            if let least = bounds.atLeast { write("atLeast", least, &writer) }
            if let end = bounds.below { write("below", end, &writer) }
        }
    }
}

extension RefundPolicy.Decision {
    /// What it is called in our API.
    fileprivate var name: String {
        switch self {
        case .answer: "answer"
        case .silence: "silence"
        case .undecided: "undecided"
        }
    }
}
