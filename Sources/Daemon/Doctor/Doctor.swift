import AppStoreAPI
import Curl
import Domain
import Foundation
import KeyCustody

/// Asks Apple what it thinks of each app, and says what to do: the work of `purser doctor`.
///
/// It needs neither the daemon nor its database, so that it helps before the first start as well.
struct Doctor: Sendable {
    /// The transaction that is asked for: no purchase has this id, so Apple's answer says only what it thinks of the token.
    static let absentTransaction = "0"
    /// What our clock and Apple's may differ by.
    static let tolerance: TimeInterval = 30
    /// How often, and how long apart, the fate of a test notification is asked.
    static let statusChecks = (count: 15, pause: Duration.seconds(2))

    /// What the examination of a notification URL is called.
    static let notificationURL = "notification URL"

    let apps: [App]
    let keys: [KeyDeclaration]
    /// Whether each environment's notification URL is tried, which sends one test notification to it.
    let sendsTestNotifications: Bool
    let now: WallClock
    let clock: any Clock<Duration>
    /// Makes calls signed by one key alone.
    let probe: @Sendable (KeyDeclaration) throws(KeyFileError) -> AppleProbe

    /// Examines every app.
    func findings() async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for app in apps { findings += await examine(app) }
        return findings
    }

    private func examine(_ app: App) async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let usable = keys.filter { $0.apps.contains(app.slug) && ($0.state == .active || $0.state == .standby) }
        if !usable.contains(where: { $0.state == .active }) {
            findings.append(
                DoctorFinding(
                    app: app.slug, check: "key", .failure, "no active key",
                    advice: "declare one under `keys`, with this app in its `apps`"))
        }
        for key in usable {
            let name = "key \(key.keyID) (\(key.state.rawValue))"
            do {
                let probe = try probe(key)
                findings.append(DoctorFinding(app: app.slug, check: name, .ok, "\(key.path) parses"))
                findings += await examine(app, name, probe, isActive: key.state == .active)
            } catch {
                findings.append(
                    DoctorFinding(
                        app: app.slug, check: name, .failure, error.problem,
                        advice: "put the .p8 file of App Store Connect at \(error.path), readable by the service alone")
                )
            }
        }
        return findings
    }

    private func examine(
        _ app: App, _ key: String, _ probe: AppleProbe, isActive: Bool
    ) async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        var accepting: Set<AppStoreEnvironment> = []
        var refusing: Set<AppStoreEnvironment> = []
        for environment in [AppStoreEnvironment.production, .sandbox] where app.environments.contains(environment) {
            let site = Site(app: app, environment: environment, baseURL: probe.baseURLs[environment] ?? "")
            let outcome = await probe.call(
                .getTransactionInfo(transactionId: Self.absentTransaction), for: app, in: environment)
            switch outcome {
            case .noToken(let error): findings.append(site.finding("token", .failure, error.message))
            case .unreachable(let error): findings.append(site.unreachable(error))
            case .answer(let response):
                if isActive { findings += site.reached(response, now: now()) }
                if response.status == 401 { refusing.insert(environment) } else { accepting.insert(environment) }
            }
        }
        for environment in refusing.union(accepting).sorted(by: { $0.rawValue < $1.rawValue }) {
            let site = Site(app: app, environment: environment, baseURL: "")
            findings.append(
                accepting.contains(environment)
                    ? site.finding("token of \(key)", .ok, "accepted")
                    : site.refused(key, isAcceptedElsewhere: !accepting.isEmpty))
        }
        guard isActive else { return findings }
        for environment in accepting.sorted(by: { $0.rawValue < $1.rawValue }) {
            findings.append(
                sendsTestNotifications
                    ? await testNotification(app, environment, probe)
                    : Site(app: app, environment: environment, baseURL: "").finding(
                        Self.notificationURL, .warning, "not examined: test notifications are left out"))
        }
        return findings
    }
}
