import Daemon
import Foundation
import Testing

/// Which keys a reload takes up: the code's lists, held against what `docs/configuration.md` says.
struct ConfigurationReloadKeysTests {
    private let documentation: String

    init() throws {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        documentation = try String(contentsOf: url.appending(path: "docs/configuration.md"), encoding: .utf8)
    }

    /// The keys in the first column of the tables of settings.
    private var settings: [String] {
        documentation.matches(of: #/\n\| `([a-zA-Z]+(?:\.[a-zA-Z]+)*)`.* \| .*`PURSER_/#).map { String($0.1) }
    }

    /// The names that a paragraph of the section on reloads lists, which begins with one of them.
    private func names(from first: String) throws -> [String] {
        let section = try #require(documentation.split(separator: "\n## Reload\n").last)
        let paragraph = try #require(section.split(separator: "\n\n").first { $0.hasPrefix("`\(first)`") })
        return paragraph.matches(of: #/`([^`]+)`/#).map { String($0.1) }
    }

    @Test func `the documentation lists the keys that a reload takes up, and those that need a restart`() throws {
        #expect(try names(from: "log.level") == ConfigurationKey.reloaded.map(\.name))
        #expect(try names(from: "store") == ConfigurationKey.readAtStart.map(\.name))
    }

    @Test func `every setting is in one of the lists`() throws {
        let (reloaded, atStart) = (ConfigurationKey.reloaded.map(\.name), ConfigurationKey.readAtStart.map(\.name))
        #expect(settings.count > 50)
        // Those that only the file can give have no variable, and stand elsewhere than the others.
        let lists = [
            "apple.rootCertificates", "apple.rateLimits.requestsPerSecond", "cases.warnBefore",
            "callbacks.allowedHosts",
            "callbacks.allowedNetworks", "listeners.NAME.trustedProxies", "secretFiles.allowedOwners",
        ]
        for key in settings + lists where !reloaded.contains(key) {
            #expect(atStart.contains { key == $0 || key.hasPrefix($0 + ".") }, "\(key)")
        }
        for name in reloaded { #expect((settings + lists).contains(name), "\(name) is no setting") }
    }
}
