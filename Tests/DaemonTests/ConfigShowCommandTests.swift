import Foundation
import TestSupport
import Testing

@testable import Daemon

/// What `purser config show` tells of a configuration.
struct ConfigShowCommandTests {
    private static let yaml = """
        store: sqlite:/var/lib/purser/purser.db
        log: { level: warning }
        apple: { rootCertificates: [/a.cer] }
        shutdown: { drainDelay: 7s }
        apps:
          coins: { bundleId: com.example.coins, environments: [Sandbox] }
        callers:
          billing:
            tokenSHA256: "\(String(repeating: "5e", count: 32))"
            scopes: { coins: ["refunds:read"] }

        """

    private func show(
        _ yaml: String = yaml, environment: [String: String] = [:], format: OperatorQuery.Format = .table
    ) throws -> CommandOutcome {
        let file = FileManager.default.temporaryDirectory.appending(path: "show-\(UUID().uuidString).yaml")
        try Data(yaml.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return ConfigShowCommand.run(file: file.path, environment: environment, format: format)
    }

    private func row(_ key: String, of outcome: CommandOutcome) -> Substring? {
        outcome.output.split(separator: "\n").first { $0.hasPrefix(key + " ") }
    }

    @Test func everySettingStandsWithItsValueAndWhereItIsFrom() throws {
        let outcome = try show(environment: ["PURSER_SHUTDOWN_DRAIN_DELAY": "9s"])
        #expect(outcome.status == .success && outcome.errorOutput.isEmpty)
        #expect(row("log.level", of: outcome)?.contains(/warning +.*yaml:2:/) == true)
        #expect(row("shutdown.drainDelay", of: outcome)?.contains(/9s +environment variable PURSER_SHUTDOWN/) == true)
        #expect(row("shutdown.timeout", of: outcome)?.hasSuffix("default") == true)
        #expect(row("apps.coins", of: outcome)?.contains("com.example.coins (Sandbox)") == true)
        #expect(row("callers.billing", of: outcome)?.contains("for coins") == true)
        #expect(!outcome.output.contains("5e5e"), "a digest")
    }

    @Test func programsGetTheSameAsJSON() throws {
        let outcome = try show(format: .json)
        let answer = try #require(
            JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: [[String: String]]])
        let level = answer["settings"]?.first { $0["key"] == "log.level" }
        #expect(level?["value"] == "warning" && level?["from"]?.hasSuffix(":2:15") == true)
    }

    @Test func whatIsWrongIsToldInstead() throws {
        let outcome = try show("store: nowhere\n")
        #expect(outcome.status == .configuration && outcome.output.isEmpty)
        #expect(outcome.errorOutput.contains("apple.rootCertificates"))
    }
}
