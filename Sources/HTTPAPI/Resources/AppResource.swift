import Domain
import JSON

/// `GET /v1/apps` on both listeners.
enum AppRoutes {
    /// The apps that the caller has any scope for.
    static func list(_ apps: AppCatalog, _ input: RequestInput) -> Answer {
        let scopes = input.caller?.scopes ?? [:]
        return Answer.object { writer in
            writer.memberArray("apps") { writer in
                for app in apps.all {
                    guard let granted = scopes[app.slug], !granted.isEmpty else { continue }
                    writer.object { writer in
                        write(app, to: &writer)
                        writer.memberArray("scopes") { writer in
                            for scope in granted.map(\.rawValue).sorted() { writer.value(scope) }
                        }
                    }
                }
            }
        }
    }

    /// Every app with the state of its keys, for operators.
    static func listWithKeys(_ apps: AppCatalog, _ health: any HealthReporter) async -> Answer {
        var keys: [String: [KeyStatus]] = [:]
        for key in await health.keys() {
            for app in key.apps { keys[app, default: []].append(key) }
        }
        let keysByApp = keys
        return Answer.object { writer in
            writer.memberArray("apps") { writer in
                for app in apps.all {
                    writer.object { writer in
                        write(app, to: &writer)
                        writer.memberArray("keys") { writer in
                            for key in keysByApp[app.slug] ?? [] { write(key, to: &writer) }
                        }
                    }
                }
            }
        }
    }

    private static func write(_ app: App, to writer: inout JSONWriter) {
        writer.member("app", app.slug)
        writer.member("bundleId", app.bundleID)
        writer.memberOrNull("appAppleId", app.appAppleID)
        writer.memberArray("environments") { writer in
            for environment in app.environments.map(\.rawValue).sorted() { writer.value(environment) }
        }
    }

    private static func write(_ key: KeyStatus, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("keyId", key.keyID)
            writer.member("issuerId", key.issuerID)
            writer.member("state", key.state.rawValue)
            writer.member("source", key.source)
        }
    }
}

/// What is left of Apple's rate limits, and who used it.
struct LimitsRoutes: Sendable {
    let budgets: RateBudgets

    /// `GET …/limits`.
    func get(_ app: App, _ input: RequestInput) throws(ServiceError) -> Answer {
        try input.fields().finish()
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
