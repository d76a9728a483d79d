import Domain
import JSON

/// What is left of Apple's rate limits, and who used it.
struct LimitsRoutes: Sendable {
    let budgets: RateBudgets

    /// `GET …/limits`.
    func get(_ app: App, _ input: RequestInput) throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let report = budgets.report(on: app, for: input.caller?.name ?? BudgetedCall.ownWork)
        return Answer.object(capacity: 8192) { writer in
            writer.memberArray("limits") { writer in
                for endpoint in report.endpoints { writer.object { Self.write(endpoint, to: &$0) } }
            }
            writer.memberArray("quotas") { writer in
                for quota in report.quotas { writer.object { Self.write(quota, to: &$0) } }
            }
        }
    }

    private static func write(_ endpoint: LimitsReport.Endpoint, to writer: inout JSONWriter) {
        writer.member("endpoint", endpoint.name)
        writer.member("environment", endpoint.environment.rawValue)
        writer.memberOrNull("limit", endpoint.limit?.callsPerHour)
        writer.memberOrNull("reserved", endpoint.limit?.reserved)
        writer.member("used", endpoint.used)
        writer.memberOrNull("remaining", endpoint.remaining)
        writer.memberOrNull("remainingForYou", endpoint.remainingForCaller)
        writer.memberOrNull("blockedUntil", endpoint.blockedUntil.map(Timestamp.text))
        writer.memberArray("callers") { writer in
            for caller in endpoint.callers {
                writer.object { writer in
                    writer.member("caller", caller.name)
                    writer.member("interactive", caller.interactive)
                    writer.member("deadlineBound", caller.deadlineBound)
                }
            }
        }
    }

    private static func write(_ quota: LimitsReport.Quota, to writer: inout JSONWriter) {
        writer.member("caller", quota.caller)
        writer.member("callsPerHour", quota.callsPerHour)
        writer.member("used", quota.used)
    }
}
