import Domain
import Foundation
import KeyCustody
import Listener
import Logging
import Testing

@testable import Daemon

/// `deploy/config/purser.yaml`, the file that an operator starts from.
struct DeployedConfigurationTests {
    private static let path = "deploy/config/purser.yaml"

    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String = path) throws -> String {
        try String(contentsOf: Self.repository.appending(path: path), encoding: .utf8)
    }

    @Test func theDefaultFileIsValidAsItIs() throws {
        let configuration = try DaemonConfiguration.parse(yaml: try text(), file: Self.path)
        #expect(configuration.apps.map(\.slug) == ["coins"])
        #expect(configuration.warnings.isEmpty)
    }

    @Test func whatItShowsInCommentsAreTheDefaults() throws {
        let configuration = try DaemonConfiguration.parse(yaml: try text(), file: Self.path)
        // The shown doors, upstream, authority, proxy, version, policy and caller are examples, the second address and source alternatives.
        let examples = [
            "address:", "mode:", "group:", "upstream:", "production:", "sandbox:", "certificateAuthorityFile:",
            "proxy:", "file:", "storePassword:",
            "allowGroupReadable:", "grpc:", "grpcAdmin:", "reflection:", "appleProduction:", "appleSandbox:",
            "tls:", "certificateChain:", "privateKey:",
            "minimumWordingVersion:", "appFamilyId:", "masterKey:", "credential:", "keyDirectories:",
            "clientCertificateAuthorities:", "clientCertificates:", "allowedHosts:", "allowedNetworks:",
        ]
        let shown = try text().split(separator: "\n", omittingEmptySubsequences: false).map {
            (line: Substring) -> String in
            let content = line.drop { $0 == " " }
            guard content.hasPrefix("# "), content.contains(": ") || content.hasSuffix(":") else { return String(line) }
            let setting = content.dropFirst(2).drop { $0 == " " }
            let name = setting.hasPrefix("- ") ? setting.dropFirst(2) : setting
            let isKey = name.prefix { $0 != ":" }.allSatisfy { $0.isLetter || $0.isNumber }
            guard isKey, !examples.contains(where: { setting.hasPrefix($0) }) else { return String(line) }
            return String(line.replacing("# ", with: "", maxReplacements: 1))
        }
        let uncommented = try DaemonConfiguration.parse(yaml: shown.joined(separator: "\n"), file: Self.path)
        #expect(uncommented.callers.map(\.caller.name) == ["billing"])
        #expect(uncommented.listeners == configuration.listeners)
        #expect(uncommented.apple == configuration.apple)
        #expect(uncommented.keys == configuration.keys)
        #expect(uncommented.keyWarnings == configuration.keyWarnings)
        #expect(uncommented.apps == configuration.apps)
        #expect(uncommented.audit == configuration.audit)
        #expect(uncommented.logLevel == configuration.logLevel)
        #expect(uncommented.shutdown == configuration.shutdown)
        #expect(uncommented.access == configuration.access)
        #expect(uncommented.snapshots == configuration.snapshots)
        #expect(uncommented.deliveries == configuration.deliveries)
        #expect(uncommented.cases == configuration.cases)
        #expect(uncommented.notifications == configuration.notifications)
        #expect(uncommented.receipts == configuration.receipts)
        #expect(uncommented.retention == configuration.retention)
        #expect(uncommented.refundPolicies.keys.sorted() == ["coins"])
        #expect(uncommented.warnings.isEmpty)
    }

    @Test func itNamesEveryKeyThereIs() throws {
        let text = try text()
        for key in [
            "store", "storePassword", "masterKey", "audit", "directory", "retention", "reserveFile", "reserveBytes",
            "level", "address",
            "mode", "group", "maximumConnections", "maximumRequests",
            "maximumHeaderBytes",
            "maximumBodyBytes", "trustedProxies",
            "idleTimeout", "rootCertificates", "production", "sandbox", "certificateAuthorityFile", "proxy",
            "connectTimeout", "attemptTimeout", "deadline", "maximumResponseBytes", "id", "issuer", "credential",
            "file",
            "allowGroupReadable", "secretFiles", "allowedOwners", "allowEverybody", "state", "bundleId", "appAppleId",
            "environments", "additionalConsumptionFields",
            "userIDs", "ignoredTokens", "guardianBlocksConsumption", "minimumWordingVersion",
            "tokenSHA256", "scopes", "grpc", "grpcAdmin", "reflection", "appleProduction", "appleSandbox", "tls",
            "certificateChain",
            "privateKey",
            "clientCertificateAuthorities", "clientCertificates",
            "drainDelay", "timeout", "lifetime", "maximumBytes", "sandboxShare", "reservedShare", "requestsPerSecond",
            "callsPerHour", "webhook", "refundPolicy", "rule", "match", "beforeDeadline", "answer", "deliveryStatuses",
            "atOnce", "productTypes", "consumptionPercentage", "refundPreference", "concurrency", "wait", "warnBefore",
            "history", "interval", "firstLookBack", "notifications", "deliveries", "attempts", "events", "cases",
            "retention", "receipts", "acceptSHA1", "keepRaw", "usersPerTransaction", "appFamilyId",
        ] {
            #expect(text.contains(" \(key):") || text.contains("\n\(key):"), "\(key) is missing")
        }
    }

    @Test func theDocumentationNamesEveryVariableAndNoOther() throws {
        let documented = try text("docs/configuration.md").matches(of: /PURSER_[A-Z0-9_]*[A-Z0-9]/)
            .map { String($0.output) }
        let expanded = documented.flatMap { variable in
            ["API", "GRPC", "WEBHOOK", "ADMIN", "GRPC_ADMIN", "HEALTH", "APPLE_PRODUCTION", "APPLE_SANDBOX"].map {
                variable.replacing("_NAME_", with: "_\($0)_")
            }
        }
        let nonsense = Dictionary(expanded.map { ($0, "nonsense") }) { first, _ in first }
        let problems = ConfigurationFixture.problems(ConfigurationFixture.minimal, environment: nonsense)
        #expect(problems.filter { $0.message.hasPrefix("No setting") }.map(\.description) == [])
        #expect(Set(ConfigurationFixture.everyVariable.keys).subtracting(expanded) == [])
    }

    /// A row of a table of settings: the key, then what it takes, whether it must be given, and the default.
    private func documentedDefaults() throws -> [String: String] {
        let rows = try text("docs/configuration.md").split(separator: "\n").compactMap { line -> (String, String)? in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count >= 6, let key = cells[1].firstMatch(of: /^`([A-Za-z0-9.]+)`/)?.1 else { return nil }
            return (String(key), cells[4].replacing("`", with: ""))
        }
        return Dictionary(rows) { first, _ in first }
    }

    @Test func theDocumentationNamesEverySettingAndItsDefault() throws {
        let documented = try documentedDefaults()
        let document = try YAMLDocument(text: ConfigurationFixture.minimal, file: Self.path)
        var parser = ConfigurationParser(
            document: document, file: Self.path, flags: ConfigurationFlags(), environment: [:])
        _ = try parser.configuration()
        #expect(parser.inForce.count > 60)
        for setting in parser.inForce {
            let general = setting.key.replacing(/^listeners\.[A-Za-z]+\./, with: "listeners.NAME.")
            guard let told = documented[general] else {
                Issue.record("\(setting.key) is not in docs/configuration.md")
                continue
            }
            guard setting.origin == nil, let value = setting.value else { continue }
            // A day may be told as 24 hours.
            let isSame =
                told.contains(value)
                || DurationText.parse(value).map { duration in
                    told.matches(of: /[0-9]+(ms|s|m|h|d)/).contains {
                        DurationText.parse(String($0.output.0)) == duration
                    }
                } == true
            #expect(isSame, "\(setting.key) is \(value) by default, the document says \(told)")
        }
    }

    @Test func theUnitGoesWithTheDefaultFile() throws {
        let configuration = try DaemonConfiguration.parse(yaml: try text(), file: Self.path)
        let unit = try text("deploy/systemd/purser.service").split(separator: "\n").map(String.init)
        #expect(unit.contains("ExecStart=/usr/bin/purser serve --config /etc/purser/purser.yaml"))
        #expect(unit.contains("RestartPreventExitStatus=\(CommandOutcome.Status.configuration.rawValue)"))
        for key in configuration.keys where key.source == .credential {
            let name = URL(filePath: key.path).lastPathComponent
            // Not in force: a file that is not there would keep every other installation from starting.
            #expect(unit.contains { $0.hasPrefix("#   LoadCredential=\(name):") })
            #expect(!unit.contains { $0.hasPrefix("LoadCredential") })
        }
        // The default socket is in the folder that the unit makes.
        #expect(configuration.listeners.admin?.address.description == "unix:/run/purser/admin.sock")
        #expect(unit.contains("RuntimeDirectory=purser"))
        let stop = unit.compactMap { $0.wholeMatch(of: /TimeoutStopSec=(\d+)s/).flatMap { Int($0.output.1) } }
        let shutdown = configuration.shutdown
        #expect(stop.count == 1 && .seconds(stop.first ?? 0) > shutdown.drainDelay + shutdown.timeout)
    }

    @Test func `the package is of this version`() throws {
        #expect(try text("deploy/debian/changelog").hasPrefix("purser (\(Version.text)-"))
    }

    @Test func `whoever removes the package stops every unit that it brings`() throws {
        let folder = Self.repository.appending(path: "deploy/systemd")
        let units = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            // A backup that runs ends by itself.
            $0.contains(".") && $0 != "purser-backup.service"
        }
        #expect(units.count > 5)
        let stops = try text("deploy/debian/purser.prerm")
        for unit in units {
            // Of a template every instance.
            let instances = " '\(unit.replacing("@.", with: "@*."))'"
            #expect(stops.contains(" \(unit)") || stops.contains(instances), "\(unit) runs on")
        }
    }
}
