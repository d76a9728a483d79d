import Domain
import Foundation

/// How the signing keys are, for `/healthz`.
struct KeyHealth: Sendable {
    private let overview: KeyOverview
    private let activeKeyIDs: [String: String]
    private let takeovers: [String: KeyRole]
    private let withoutStandby: Set<String>
    /// What is to be looked at, by app.
    private let warnings: [String: [String]]

    /// - Parameters:
    ///   - overview: every key.
    ///   - takeovers: those in force.
    init(_ overview: KeyOverview, takeovers: [KeyRole]) {
        self.overview = overview
        self.takeovers = Dictionary(takeovers.map { ($0.app, $0) }) { $1 }
        withoutStandby = Set(overview.appsWithoutStandby)
        // Each key once: there may be thousands of apps, and a key may serve all of them.
        activeKeyIDs = overview.keys.reduce(into: [:]) { ids, key in
            for app in key.activeApps { ids[app] = key.facts.keyID }
        }
        warnings = overview.keys.reduce(into: [:]) { warnings, key in
            let sentences = key.warnings.map { "\(key.facts.keyID) is \($0)" }
            guard !sentences.isEmpty, key.state == .active || key.state == .standby else { return }
            for app in key.facts.apps { warnings[app, default: []] += sentences }
        }
    }

    /// Whether every key can be used that there is.
    var custody: HealthReport.Part {
        let closed = overview.keys.compactMap { key in
            key.facts.problem.map { "key \(key.facts.keyID) cannot sign: \($0)" }
        }
        let problems = closed + overview.directoryProblems
        return HealthReport.Part(
            name: "keys", isHealthy: problems.isEmpty,
            detail: problems.isEmpty
                ? "\(overview.keys.count) keys; secrets are sealed under master key \(overview.masterKeyID)"
                : problems.joined(separator: "; "))
    }

    /// Who signs for an app; that a standby key does, which an operator must confirm, is not healthy.
    ///
    /// What is only to be looked at is told and is no fault.
    func part(of app: App) -> HealthReport.Part {
        let name = "key:\(app.slug)"
        guard let key = activeKeyIDs[app.slug] else {
            return HealthReport.Part(name: name, isHealthy: false, detail: "no active key: calls to Apple fail")
        }
        guard let takeover = takeovers[app.slug], takeover.keyID == key else {
            let alone = withoutStandby.contains(app.slug) ? ["no standby key"] : []
            let notes = ["\(key) is active"] + alone + (warnings[app.slug] ?? [])
            return HealthReport.Part(name: name, isHealthy: true, detail: notes.joined(separator: "; "))
        }
        return HealthReport.Part(
            name: name, isHealthy: false,
            detail: "\(key) signs since \(takeover.since.formatted(.iso8601)) in the place of "
                + "\(takeover.replacedKeyID ?? "another"), which Apple has refused: `purser keys activate \(key)` confirms it"
        )
    }
}
