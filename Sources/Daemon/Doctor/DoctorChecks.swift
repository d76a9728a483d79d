import AppStoreAPI
import Curl
import Domain
import Foundation
import KeyCustody

/// Everything that `purser doctor` examines, in the order of its output; below is what each check finds and advises.
///
/// A new check is a case here, a finding of it in `Doctor` or in `DaemonExamination`, and a line in `docs/operations.md`.
enum DoctorCheck {
    // Of each app, whatever the environment:
    /// An active key is declared for the app.
    case activeKey
    /// The file of a key that may sign can be read, and holds a key.
    case keyFile(KeyDeclaration)
    // Of each app in each of its environments:
    /// A token can be signed.
    case signing
    /// Apple's server can be reached and answers.
    case baseURL
    /// Apple's server has no trouble of its own.
    case service
    /// Our clock and Apple's differ by little enough for our tokens to be valid.
    case clock
    /// Apple accepts the token that a key signs.
    case token(KeyDeclaration)
    /// Apple's test notification arrives at the URL that App Store Connect has.
    case notificationURL
    // Of the installation:
    /// The file of the master key belongs to the right user, and nobody else can replace it.
    case masterKey
    /// A directory of keys, and each file in it, can be used.
    case keyDirectory
    // Of the running daemon:
    /// It can be asked, and all of its parts are well.
    case health
    /// A part of its own health report is well.
    case healthPart(String)

    /// What the check is called in front of the operator.
    var name: String {
        switch self {
        case .activeKey: "key"
        case .keyFile(let key): Self.name(of: key)
        case .signing: "token"
        case .baseURL: "base URL"
        case .service: "service"
        case .clock: "clock"
        case .token(let key): "token of \(Self.name(of: key))"
        case .notificationURL: "notification URL"
        case .masterKey: "master key"
        case .keyDirectory: "key directory"
        case .health: "health"
        case .healthPart(let part): part
        }
    }

    private static func name(of key: KeyDeclaration) -> String { "key \(key.keyID) (\(key.state.rawValue))" }
}

extension Doctor {
    /// One of Apple's servers, as one app sees it.
    struct Site {
        let app: App
        let environment: AppStoreEnvironment
        let baseURL: String

        func finding(
            _ check: DoctorCheck, _ verdict: DoctorFinding.Verdict, _ detail: String, advice: String? = nil
        ) -> DoctorFinding {
            DoctorFinding(
                app: app.slug, environment: environment, check: check.name, verdict, detail, advice: advice)
        }

        /// The server could not be asked.
        func unreachable(_ error: CurlError) -> DoctorFinding {
            let advice =
                switch error.kind {
                case .nameResolution: "check the name server of this machine and the host name in `apple.upstream`"
                case .connectFailed: "let this machine out to port 443, or configure `apple.proxy`"
                case .tls:
                    "install the package ca-certificates, or name the proxy's authority in `apple.certificateAuthorityFile`"
                case .timeout: "look for a firewall that drops packets; raise `apple.connectTimeout` on a slow line"
                default: "try again; if it stays, look at the network and the proxy"
                }
            return finding(.baseURL, .failure, "\(baseURL): \(error)", advice: advice)
        }

        /// The server has answered, whatever it said: what that tells of the way to it and of the clock.
        func reached(_ response: CurlResponse, now: Date) -> [DoctorFinding] {
            var findings = [finding(.baseURL, .ok, "\(baseURL) answers")]
            if response.status >= 500 {
                findings.append(
                    finding(
                        .service, .warning, "Apple answers with status \(response.status)",
                        advice: "look at Apple's system status page; nothing is wrong here"))
            }
            guard let date = response.headers.date else {
                findings.append(finding(.clock, .warning, "the answer bears no date to compare with"))
                return findings
            }
            let skew = now.timeIntervalSince(date)
            let seconds = Int(skew.rounded())
            findings.append(
                abs(skew) <= Doctor.tolerance
                    ? finding(.clock, .ok, "\(abs(seconds)) s from Apple's")
                    : finding(
                        .clock, .failure, "\(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") Apple's",
                        advice: "set the clock and keep it set (timedatectl set-ntp true): Apple refuses tokens by it"))
            return findings
        }

        /// What the server thinks of the token.
        func judged(
            _ judgement: TokenJudgement, _ key: KeyDeclaration, isAcceptedElsewhere: Bool
        ) -> DoctorFinding {
            switch judgement {
            case .accepted: finding(.token(key), .ok, "accepted")
            case .refused: refused(key, isAcceptedElsewhere: isAcceptedElsewhere)
            case .unknownApp(let code):
                finding(
                    .token(key), .failure, "Apple has no app with bundle id `\(app.bundleID)` for this key (\(code))",
                    advice:
                        "compare `bundleId` with App Store Connect letter by letter, and see whether the app is of the team whose key this is"
                )
            case .unclear(let status, let code):
                finding(
                    .token(key), .warning,
                    "not judged: status \(status)\(code.map { ", Apple's code \($0)" } ?? ", without a code of Apple's")",
                    advice:
                        "run this again in a few minutes; if it stays, a proxy may answer in Apple's place"
                )
            }
        }

        /// The server refuses the token.
        private func refused(_ key: KeyDeclaration, isAcceptedElsewhere: Bool) -> DoctorFinding {
            guard isAcceptedElsewhere else {
                return finding(
                    .token(key), .failure, "refused (401)",
                    advice:
                        "compare key id, issuer id and bundle id `\(app.bundleID)` with App Store Connect, and see there whether the key is revoked"
                )
            }
            if environment == .production {
                return finding(
                    .token(key), .warning, "refused (401), while Sandbox accepts it",
                    advice: "usual for an app that was never released; then leave only Sandbox in its `environments`")
            }
            return finding(
                .token(key), .failure, "refused (401), while Production accepts it",
                advice: "try again; if it stays, ask Apple: the same key serves both")
        }
    }
}

/// What Apple's answer about a transaction that nobody has says of the token that asked.
enum TokenJudgement: Equatable {
    /// Apple has looked for the transaction, for this app.
    case accepted
    /// Key, issuer or time are not to Apple's liking.
    case refused
    /// The key is known, the app is not; with Apple's number.
    case unknownApp(code: Int64)
    /// Nothing can be said: a limit, trouble at Apple's, or somebody in between.
    case unclear(status: Int, code: Int64?)

    init(status: Int, body: [UInt8]) {
        let code = (try? ErrorPayload(parsing: body))?.errorCode
        let error = code.flatMap(APIErrorCode.init(code:))
        switch (status, error) {
        case (401, _): self = .refused
        case (_, .transactionIdNotFound), (_, .invalidTransactionId): self = .accepted
        case (_, let error?) where error.isAboutOurApp && !error.isRetryable: self = .unknownApp(code: code ?? 0)
        default: self = .unclear(status: status, code: code)
        }
    }
}

extension Doctor {
    /// Lets Apple send a test notification and waits for its fate.
    func testNotification(
        _ app: App, _ environment: AppStoreEnvironment, _ probe: AppleProbe
    ) async -> DoctorFinding {
        let site = Site(app: app, environment: environment, baseURL: "")
        let name = DoctorCheck.notificationURL
        guard case .answer(let response) = await probe.call(.requestTestNotification(), for: app, in: environment)
        else { return site.finding(name, .warning, "not tried: Apple could not be reached just now") }
        let answer = try? SendTestNotificationResponse(parsing: response.body)
        guard (200..<300).contains(response.status), let token = answer?.testNotificationToken else {
            return unsent(site, name, status: response.status, try? ErrorPayload(parsing: response.body))
        }
        for _ in 0..<Self.statusChecks.count {
            guard (try? await clock.sleep(for: Self.statusChecks.pause)) != nil else { break }
            let outcome = await probe.call(
                .getTestNotificationStatus(testNotificationToken: token), for: app, in: environment)
            guard case .answer(let response) = outcome, (200..<300).contains(response.status),
                let attempts = (try? CheckTestNotificationResponse(parsing: response.body))?.sendAttempts,
                let last = attempts.last?.sendAttemptResult?.rawValue
            else { continue }
            return last == "SUCCESS"
                ? site.finding(name, .ok, "Apple's test notification was received")
                : site.finding(
                    name, .failure, "Apple could not deliver its test notification: \(last)",
                    advice: Self.advice(for: last))
        }
        return site.finding(
            name, .warning, "Apple has not yet said what became of its test notification",
            advice: "run this again in a few minutes")
    }

    private func unsent(_ site: Site, _ name: DoctorCheck, status: Int, _ error: ErrorPayload?) -> DoctorFinding {
        switch error?.errorCode {
        case 4_040_007:
            site.finding(
                name, .failure, "no version 2 URL is configured",
                advice:
                    "enter one in App Store Connect (App Information, App Store Server Notifications, version 2): without it refund requests never arrive"
            )
        case 4_290_000:
            site.finding(
                name, .warning, "not tried: Apple's limit for test notifications is reached",
                advice: "run this again in an hour, or with --skip-test-notifications")
        default:
            site.finding(name, .warning, "not tried: Apple answered with status \(status)", advice: "run this again")
        }
    }

    /// What to do about Apple's `sendAttemptResult`.
    private static func advice(for result: String) -> String {
        switch result {
        case "TIMED_OUT", "NO_RESPONSE": "let Apple's network (17.0.0.0/8) reach the URL, and answer within seconds"
        case "TLS_ISSUE": "serve the URL with a certificate of a public authority and TLS 1.2 or later"
        case "SOCKET_ISSUE", "PREMATURE_CLOSE":
            "see whether the server behind the URL accepts connections and keeps them"
        case "CIRCULAR_REDIRECT": "let the URL answer itself instead of redirecting"
        case "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "INVALID_RESPONSE", "UNSUPPORTED_CHARSET":
            "let the URL answer 200 without a body"
        default: "see the log of the server behind the URL"
        }
    }
}

/// Asks the running daemon what it finds wrong with itself; part of `purser doctor`.
struct DaemonExamination {
    /// The answer of `/healthz`.
    private struct Health: Decodable {
        struct Part: Decodable {
            let name: String
            let healthy: Bool
            let detail: String
        }

        let parts: [Part]
    }

    let daemon: RunningDaemon

    /// What is wrong, or that nothing is; nothing at all when no daemon runs, which is no fault.
    func findings() async -> [DoctorFinding] {
        do {
            let health = try await daemon.client().send(.get, "/healthz").decoded(Health.self)
            let faults = health.parts.filter { !$0.healthy }.map { part in
                finding(.healthPart(part.name), .failure, part.detail, advice: Self.advice(for: part.name))
            }
            return faults.isEmpty ? [finding(.health, .ok, "all \(health.parts.count) parts are well")] : faults
        } catch AdminClientError.notRunning, AdminClientError.switchedOff {
            return []
        } catch {
            return [finding(.health, .warning, "not examined: \(error)")]
        }
    }

    /// Which key the daemon signs with, by app; nothing when it cannot be asked.
    func activeKeys() async -> [String: String] {
        guard let reply = try? await daemon.client().send(.get, "/v1/keys"), reply.isSuccess,
            let list = try? reply.decoded(SigningKeyList.self)
        else { return [:] }
        let pairs = list.keys.flatMap { key in key.activeApps.map { ($0, key.keyId) } }
        return Dictionary(pairs) { first, _ in first }
    }

    private func finding(
        _ check: DoctorCheck, _ verdict: DoctorFinding.Verdict, _ detail: String, advice: String? = nil
    ) -> DoctorFinding {
        DoctorFinding(app: "daemon", check: check.name, verdict, detail, advice: advice)
    }

    private static func advice(for part: String) -> String {
        switch part {
        case "sending":
            "record again who has withdrawn consent since the backup, then run `purser deliveries release`"
        case "quarantine":
            "compare `bundleId`, `appAppleId` and `environments` with App Store Connect, and the URL there with the app's name"
        case "cases": "answer or decline them: `GET /v1/apps/{app}/cases?state=open` lists them"
        case "keys": "see \"The master key\" in docs/keys.md, and `purser keys list`"
        case "store": "see whether the disk is full or broken: `df` on the folder of `store`"
        default: "see \"At three in the morning\" in docs/operations.md"
        }
    }
}
