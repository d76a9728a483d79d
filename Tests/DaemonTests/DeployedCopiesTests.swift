import Domain
import Foundation
import Listener
import Postgres
import Testing

@testable import Daemon

/// What `deploy` has for several copies on one database.
struct DeployedCopiesTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.repository.appending(path: path), encoding: .utf8)
    }

    /// The settings of a unit, without what is said about them.
    private func settings(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test func `a copy's unit is the daemon's, but for what differs between copies`() throws {
        let (one, copy) = (
            try settings("deploy/systemd/purser.service"), try settings("deploy/systemd/purser@.service")
        )
        let differing = ["Description=", "ExecReload=", "StateDirectory=", "RuntimeDirectory="]
        let rest = { (lines: [String]) in lines.filter { line in !differing.contains { line.hasPrefix($0) } } }
        let own = rest(copy).filter { !rest(one).contains($0) }
        #expect(rest(one).allSatisfy(rest(copy).contains))
        #expect(own.allSatisfy { $0.hasPrefix("Environment=PURSER_") || $0 == "Conflicts=purser.service" }, "\(own)")
        for prefix in differing {
            #expect(copy.filter { $0.hasPrefix(prefix) && $0.contains("%i") }.count == 1, "\(prefix)")
        }
    }

    /// The configuration of a copy: the file of all, and the unit's environment.
    private func configuration(ofCopy number: Int) throws -> DaemonConfiguration {
        let unit = try settings("deploy/systemd/purser@.service")
        let variables = unit.compactMap { line -> (String, String)? in
            guard let given = line.wholeMatch(of: /Environment=(PURSER_[A-Z_]+)=(.*)/) else { return nil }
            return (String(given.1), String(given.2).replacing("%i", with: "\(number)"))
        }
        let yaml = try text("deploy/config/purser.yaml") + "\nmasterKey: { file: /etc/purser/master.key }\n"
        return try DaemonConfiguration.parse(
            yaml: yaml, file: "purser.yaml", flags: ConfigurationFlags(store: "postgres://purser@db/purser"),
            environment: Dictionary(uniqueKeysWithValues: variables))
    }

    @Test func `copies share no port, no socket and no folder`() throws {
        let copies = try (1...3).map(configuration(ofCopy:))
        func all(_ value: (DaemonConfiguration) -> String?) -> Set<String> { Set(copies.compactMap(value)) }
        for addresses in [
            all { $0.listeners.api?.address.description }, all { $0.listeners.webhook?.address.description },
            all { $0.listeners.health?.address.description }, all { $0.listeners.admin?.address.description },
            all(\.audit.directory), all(\.audit.reserveFile),
        ] {
            #expect(addresses.count == copies.count, "\(addresses)")
        }
        let ports = copies.flatMap { copy in
            [copy.listeners.api, copy.listeners.webhook, copy.listeners.health].compactMap {
                $0?.address.description
            }
        }
        #expect(Set(ports).count == 9, "\(ports)")
        #expect(copies[0].listeners.admin?.address.description == "unix:/run/purser/1/admin.sock")
        #expect(copies[0].audit.directory.hasPrefix("/var/lib/purser/1/"))
        // As the documentation tells them.
        let told = try text("docs/scaling.md")
        for port in ports.prefix(6) {
            #expect(told.contains(port.drop { $0 != ":" }.dropFirst()), "\(port)")
        }
    }

    @Test func `the Deployment on PostgreSQL replaces one Pod after the other, and its configuration is valid`() throws
    {
        let path = "deploy/kubernetes/purser-postgres.yaml"
        let manifest = try text(path)
        let block = try #require(manifest.components(separatedBy: "  purser.yaml: |\n").dropFirst().first)
        let yaml = block.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0 != "---" }
            .map { $0.dropFirst(4) }.joined(separator: "\n")
        let configuration = try DaemonConfiguration.parse(yaml: yaml, file: path)
        guard case .postgres(let database) = configuration.store else {
            Issue.record("\(configuration.store)")
            return
        }
        #expect(database.passwordFile == "/etc/purser/keys/database.password")
        #expect(manifest.contains("replicas: 2") && manifest.contains("maxUnavailable: 0"))
        #expect(!manifest.contains("PersistentVolumeClaim"))
        let grace = manifest.firstMatch(of: /terminationGracePeriodSeconds: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        #expect(.seconds(grace) > configuration.shutdown.drainDelay + configuration.shutdown.timeout)
    }
}
