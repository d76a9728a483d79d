import Foundation
import KeyCustody
import Listener
import OpenSSL

/// `purser config check`: everything that `purser serve` would refuse at start, without starting.
///
/// Besides the configuration itself it opens every file that the configuration names: keys with their permissions, root
/// certificates, certificate authorities.
package enum ConfigCheckCommand {
    /// Checks a file under the environment of `purser serve`.
    ///
    /// - Returns: `success` with a summary, or `configuration` with every problem, one a line; warnings in either case.
    package static func run(file: String, environment: [String: String]) -> CommandOutcome {
        do {
            let text = try DaemonConfiguration.contents(of: file)
            let configuration = try DaemonConfiguration.parse(yaml: text, file: file, environment: environment)
            let places = try YAMLDocument(text: text, file: file).root
            var check = FileCheck(file: file, places: places, environment: environment)
            check.check(configuration)
            let warnings = lines(configuration.warnings + check.warnings, prefix: "warning: ")
            guard check.problems.isEmpty else {
                return CommandOutcome(.configuration, errorOutput: lines(check.problems) + warnings)
            }
            return CommandOutcome(.success, output: summary(configuration, file: file), errorOutput: warnings)
        } catch {
            return CommandOutcome(.configuration, errorOutput: lines(error.problems))
        }
    }

    private static func lines(_ problems: [ConfigurationProblem], prefix: String = "") -> String {
        problems.map { "\(prefix)\($0)\n" }.joined()
    }

    private static func summary(_ configuration: DaemonConfiguration, file: String) -> String {
        let upstream = configuration.apple.usesCustomUpstream ? "CUSTOM, calls do not go to Apple" : "Apple"
        return """
            \(file) is valid: apps \(configuration.apps.count), keys \(configuration.keys.count), \
            callers \(configuration.callers.count), upstream \(upstream).

            """
    }
}

/// Opens what a configuration names.
private struct FileCheck {
    let file: String
    let places: ConfigurationElement
    let environment: [String: String]
    var problems: [ConfigurationProblem] = []
    var warnings: [ConfigurationProblem] = []

    mutating func check(_ configuration: DaemonConfiguration) {
        for (index, path) in configuration.apple.rootCertificateFiles.enumerated() {
            attempt("apple.rootCertificates[\(index)]") { _ = try Files.certificate(path) }
        }
        if let path = configuration.apple.certificateAuthorityFile {
            attempt("apple.certificateAuthorityFile") { try Files.checkAuthorities(path) }
        }
        for (name, listener) in configuration.listeners.all {
            guard let tls = listener.tls else { continue }
            do throws(ListenerError.Reason) {
                try tls.check()
            } catch {
                let error = ListenerError(listener: name, address: listener.address, reason: error)
                let key =
                    if case .authoritiesUnusable = error.reason { "clientCertificateAuthorities" } else {
                        "certificateChain"
                    }
                attempt("listeners.\(name).tls.\(key)") { throw error }
            }
        }
        checkMasterKey(configuration.masterKey)
        checkKeyDirectories(configuration)
        for (index, key) in configuration.keys.enumerated() {
            if key.source == .credential, environment["CREDENTIALS_DIRECTORY"] == nil,
                !FileManager.default.fileExists(atPath: key.path)
            {
                warnOfCredential("keys[\(index)].credential")
                continue
            }
            attempt("keys[\(index)]\(key.source == .credential ? ".credential" : ".file")") {
                _ = try KeyFile.load(key)
            }
        }
    }

    /// What is wrong with a directory of keys stops no start, and may be mended while the daemon runs.
    private mutating func checkKeyDirectories(_ configuration: DaemonConfiguration) {
        for (index, directory) in configuration.keyDirectories.enumerated() {
            let key = "keyDirectories[\(index)].path"
            let problems = KeyDirectory.problems(of: [directory], declared: configuration.keys.map(\.keyID))
            for problem in problems { warnings.append(ConfigurationProblem(origin(key), key: key, problem)) }
        }
    }

    /// The daemon makes its own key where there is none; a check makes nothing.
    private mutating func checkMasterKey(_ source: MasterKeySource) {
        let isThere = FileManager.default.fileExists(atPath: source.path)
        switch source {
        case .credential where environment["CREDENTIALS_DIRECTORY"] == nil && !isThere:
            warnOfCredential("masterKey.credential")
        case .made where !isThere: break
        case .credential: attempt("masterKey.credential") { _ = try source.load() }
        case .file: attempt("masterKey.file") { _ = try source.load() }
        case .made: attempt("store") { _ = try source.load() }
        }
    }

    private mutating func warnOfCredential(_ key: String) {
        warnings.append(
            ConfigurationProblem(
                origin(key), key: key, "A credential exists only while systemd runs the unit; it was not checked."))
    }

    private mutating func attempt(_ key: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            problems.append(ConfigurationProblem(origin(key), key: key, "\(error)"))
        }
    }

    private func origin(_ key: String) -> ConfigurationOrigin { places.element(withKey: key)?.origin ?? .file(file) }
}
