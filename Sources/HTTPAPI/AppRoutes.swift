import Domain
import JSON

/// `GET /v1/apps` on both faces.
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
