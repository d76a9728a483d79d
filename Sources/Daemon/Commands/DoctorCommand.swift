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
        let doctor = Doctor(
            apps: apps, keys: configuration.keys, sendsTestNotifications: sendsTestNotifications, now: now, clock: clock
        ) { key throws(KeyFileError) in
            let ring = try KeyRing(loading: [key.activated])
            return AppleProbe(
                client: client,
                tokens: TokenMinter(
                    keys: ring, clock: TokenMinter.Clock(now: now), metrics: PrometheusRegistry(help: [:]),
                    logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }),
                baseURLs: configuration.apple.baseURLs, connectTimeout: configuration.apple.connectTimeout,
                totalTimeout: configuration.apple.attemptTimeout)
        }
        let daemon = RunningDaemon(file: file, socket: nil, environment: environment)
        let findings = await doctor.findings() + DaemonExamination(daemon: daemon).findings()
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
        KeyDeclaration(keyID: keyID, issuerID: issuerID, path: path, source: source, state: .active, apps: apps)
    }
}
