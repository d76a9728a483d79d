import AppStoreAPI
import Curl
package import Domain
import Foundation
import KeyCustody
import Logging

/// `purser doctor`: whether Apple takes us as the configuration has it, for each app and environment, and whether the daemon,
/// if it runs, is well.
package enum DoctorCommand {
    /// Examines the apps of a configuration file, or one of them.
    ///
    /// - Returns: `success` unless something fails; warnings do not. `configuration` when the file cannot be used.
    package static func run(
        file: String, environment: [String: String], app: String?, sendsTestNotifications: Bool,
        now: @escaping WallClock = { Date() }, clock: any Clock<Duration> = ContinuousClock()
    ) async -> CommandOutcome {
        let configuration: DaemonConfiguration
        do {
            let text = try DaemonConfiguration.contents(of: file)
            configuration = try DaemonConfiguration.parse(yaml: text, file: file, environment: environment)
        } catch {
            return CommandOutcome(.configuration, errorOutput: error.problems.map { "\($0)\n" }.joined())
        }
        let apps = configuration.apps.filter { app == nil || $0.slug == app }
        guard !apps.isEmpty else {
            let names = configuration.apps.map(\.slug).joined(separator: ", ")
            return CommandOutcome(
                .configuration, errorOutput: "\(file) declares no app `\(app ?? "")`; it declares \(names)\n")
        }
        let client: CurlClient
        do {
            client = try CurlClient(configuration: CurlConfiguration(configuration.apple))
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
        let daemon = RunningDaemon(file: file, socket: nil, environment: environment)
        let doctor = Doctor(
            apps: apps, keys: configuration.keys,
            keysOfDaemon: await DaemonExamination(daemon: daemon).activeKeys(),
            sendsTestNotifications: sendsTestNotifications, now: now, clock: clock
        ) { key throws(KeyFileError) in
            let ring = try KeyRing(loading: [key.activated])
            return AppleProbe(
                client: client,
                tokens: TokenMinter(
                    keys: ring, clock: ServiceClock(now: now), audit: UnrecordedAudit(),
                    metrics: PrometheusRegistry(help: [:]),
                    logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }),
                baseURLs: configuration.apple.baseURLs, connectTimeout: configuration.apple.connectTimeout,
                totalTimeout: configuration.apple.attemptTimeout)
        }
        let findings =
            await doctor.findings() + DoctorFinding.secretFiles(of: configuration)
            + DaemonExamination(daemon: daemon).findings()
        await client.shutdown()
        let failures = findings.count { $0.verdict == .failure }
        let warnings = findings.count { $0.verdict == .warning }
        let verdict = failures == 0 ? "Nothing fails" : "\(failures) failed"
        return CommandOutcome(
            failures == 0 ? .success : .failure,
            output: findings.map(\.text).joined() + "\(verdict); \(warnings) warnings.\n")
    }
}

extension KeyDeclaration {
    /// The same key, to sign now, whatever its state.
    fileprivate var activated: KeyDeclaration {
        KeyDeclaration(
            keyID: keyID, issuerID: issuerID, path: path, source: source, state: .active, apps: apps, owners: owners)
    }
}

extension DoctorFinding {
    /// What is wrong with the master key's file and the key directories, as `purser config check` reports it; it blocks.
    ///
    /// Nothing for those that can be used, and for a master key that does not exist.
    static func secretFiles(of configuration: DaemonConfiguration) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        func add(_ check: DoctorCheck, _ problem: String, _ advice: String) {
            findings.append(DoctorFinding(app: "daemon", check: check.name, .failure, problem, advice: advice))
        }
        do throws(SecretFileError) {
            try configuration.masterKey.check(owners: configuration.secretFiles)
        } catch {
            add(.masterKey, "\(error)", "see \"The master key\" in docs/keys.md; without this key nothing starts")
        }
        let problems = KeyDirectory.problems(
            of: configuration.keyDirectories, declared: configuration.keys.map(\.keyID))
        for problem in problems {
            add(.keyDirectory, problem, "see \"GitOps: a directory of keys\" in docs/keys.md")
        }
        return findings
    }
}

/// Asks Apple what it thinks of each app, and says what to do: the work of `purser doctor`.
///
/// It needs neither the daemon nor its database, so that it helps before the first start as well. The checks are listed in
/// `DoctorCheck`.
struct Doctor: Sendable {
    /// The transaction that is asked for: no purchase has this id, so Apple's answer says only what it thinks of the token.
    static let absentTransaction = "0"
    /// What our clock and Apple's may differ by.
    static let tolerance: TimeInterval = 30
    /// How often, and how long apart, the fate of a test notification is asked.
    static let statusChecks = (count: 15, pause: Duration.seconds(2))

    let apps: [App]
    let keys: [KeyDeclaration]
    /// Which key the running daemon signs with, by app: imported ones, and those of directories, are known to it alone.
    let keysOfDaemon: [String: String]
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
                keysOfDaemon[app.slug].map { keyID in
                    DoctorFinding(
                        app: app.slug, check: DoctorCheck.activeKey.name, .ok,
                        "the daemon signs with \(keyID), which it alone has; `purser keys check \(keyID)` asks Apple")
                }
                    ?? DoctorFinding(
                        app: app.slug, check: DoctorCheck.activeKey.name, .failure, "no active key",
                        advice: "declare one under `keys`, with this app in its `apps`, or import one: `purser keys`"))
        }
        for key in usable {
            let name = DoctorCheck.keyFile(key).name
            do {
                let probe = try probe(key)
                findings.append(DoctorFinding(app: app.slug, check: name, .ok, "\(key.path) parses"))
                findings += await examine(app, key, probe)
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
        _ app: App, _ key: KeyDeclaration, _ probe: AppleProbe
    ) async -> [DoctorFinding] {
        let isActive = key.state == .active
        var findings: [DoctorFinding] = []
        var judgements: [AppStoreEnvironment: TokenJudgement] = [:]
        for environment in [AppStoreEnvironment.production, .sandbox] where app.environments.contains(environment) {
            let site = Site(app: app, environment: environment, baseURL: probe.baseURLs[environment] ?? "")
            let outcome = await probe.call(
                .getTransactionInfo(transactionId: Self.absentTransaction), for: app, in: environment)
            switch outcome {
            case .noToken(let error): findings.append(site.finding(.signing, .failure, error.message))
            case .unreachable(let error): findings.append(site.unreachable(error))
            case .answer(let response):
                if isActive { findings += site.reached(response, now: now()) }
                judgements[environment] = TokenJudgement(status: response.status, body: response.body)
            }
        }
        let accepting = judgements.filter { $0.value == .accepted }.keys
        for (environment, judgement) in judgements.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let site = Site(app: app, environment: environment, baseURL: "")
            findings.append(site.judged(judgement, key, isAcceptedElsewhere: !accepting.isEmpty))
        }
        guard isActive else { return findings }
        for environment in accepting.sorted(by: { $0.rawValue < $1.rawValue }) {
            findings.append(
                sendsTestNotifications
                    ? await testNotification(app, environment, probe)
                    : Site(app: app, environment: environment, baseURL: "").finding(
                        .notificationURL, .warning, "not examined: test notifications are left out"))
        }
        return findings
    }
}

/// One call of Apple's without any of the care that the daemon takes: no retries, no budget, no memory.
///
/// What is wrong must show, not be mended on the way.
struct AppleProbe: Sendable {
    let client: CurlClient
    let tokens: any TokenSource
    let baseURLs: [AppStoreEnvironment: String]
    let connectTimeout: Duration
    let totalTimeout: Duration

    /// What came of a call.
    enum Outcome: Sendable {
        case answer(CurlResponse)
        case unreachable(CurlError)
        case noToken(ServiceError)
    }

    func call(_ endpoint: Endpoint, for app: App, in environment: AppStoreEnvironment) async -> Outcome {
        let token: BearerToken
        do {
            token = try tokens.token(for: app)
        } catch {
            return .noToken(error)
        }
        let method = CurlRequest.Method(rawValue: endpoint.method) ?? .get
        let request = CurlRequest(
            method, (baseURLs[environment] ?? "") + endpoint.pathAndQuery,
            headers: [
                (name: "Authorization", value: "Bearer \(token.value)"), (name: "Accept", value: "application/json"),
            ],
            body: method == .post ? [] : nil, connectTimeout: connectTimeout, totalTimeout: totalTimeout,
            maximumResponseBytes: 1 << 20)
        do throws(CurlError) {
            return .answer(try await client.perform(request))
        } catch {
            return .unreachable(error)
        }
    }
}

/// What the doctor found out about one thing.
package struct DoctorFinding: Sendable, Equatable {
    package enum Verdict: String, Sendable {
        case ok
        /// It works, or will; an operator should know.
        case warning
        /// Something does not work until somebody mends it.
        case failure
    }

    /// The app's slug, or `daemon` for what the running daemon says of itself.
    package let app: String
    /// Nil for what concerns both environments.
    package let environment: AppStoreEnvironment?
    /// What was examined, such as `token`; see `DoctorCheck`.
    package let check: String
    package let verdict: Verdict
    /// What was seen.
    package let detail: String
    /// What to do about it; nil when there is nothing to do.
    package let advice: String?

    package init(
        app: String, environment: AppStoreEnvironment? = nil, check: String, _ verdict: Verdict, _ detail: String,
        advice: String? = nil
    ) {
        self.app = app
        self.environment = environment
        self.check = check
        self.verdict = verdict
        self.detail = detail
        self.advice = advice
    }

    /// The finding as it is printed: one line, and one more where there is something to do.
    var text: String {
        let mark =
            switch verdict {
            case .ok: "ok     "
            case .warning: "WARNING"
            case .failure: "FAILED "
            }
        let place = [app, environment?.rawValue].compactMap(\.self).joined(separator: ", ")
        let line = "\(mark)  \(place): \(check): \(detail)\n"
        return advice.map { line + "         -> \($0)\n" } ?? line
    }
}
