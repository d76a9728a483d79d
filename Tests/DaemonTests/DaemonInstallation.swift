import Daemon
import Domain
import Foundation
import Listener
import Logging
import OpenSSL
import ServiceLifecycle

/// A folder with everything that a daemon needs, in which it can be started and stopped; it has no key, so that it never
/// calls Apple.
struct DaemonInstallation: ~Copyable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "purser-\(UUID().uuidString.prefix(8))")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let root = try CertificateBuilder.authority(
            "Root", notBefore: Date(timeIntervalSince1970: 0), notAfter: Date(timeIntervalSince1970: 4_000_000_000)
        ).selfSigned(by: IssuingKey(generating: .p256))
        try Data(root.der).write(to: folder.appending(path: "root.cer"))
        let yaml = """
            store: sqlite:\(path("purser.db"))
            apple: { rootCertificates: [\(path("root.cer"))] }
            apps: { coins: { bundleId: com.example.coins, environments: [Sandbox] } }
            listeners:
              api: { address: "127.0.0.1:0" }
              webhook: { address: "127.0.0.1:0" }
              admin: { address: "unix:\(socket)" }
              health: { address: "127.0.0.1:0" }
            notifications: { history: { interval: off } }

            """
        try Data(yaml.utf8).write(to: folder.appending(path: "purser.yaml"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    var file: String { path("purser.yaml") }
    var socket: String { path("admin.sock") }
    /// The running daemon, as the configuration tells where it is.
    var daemon: RunningDaemon { RunningDaemon(file: file, socket: nil, environment: [:]) }
    var offline: OfflineStoreCommand { OfflineStoreCommand(file: file, environment: [:]) }

    /// Runs a daemon for the length of a closure.
    ///
    /// `environment`: what wins over the configuration file.
    func whileRunning(_ environment: [String: String] = [:], _ body: () async throws -> Void) async throws {
        var dependencies = Dependencies(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        // Apple is not asked for the time.
        dependencies.now = { Date() }
        let daemon = try await makeDaemon(
            configuration: try DaemonConfiguration.load(file: file, environment: environment),
            dependencies: dependencies)
        let group = ServiceGroup(services: daemon.services, logger: dependencies.logger)
        async let end: Void = daemon.run(in: group)
        do {
            try await body()
        } catch {
            await group.triggerGracefulShutdown()
            try await end
            throw error
        }
        await group.triggerGracefulShutdown()
        try await end
    }
}
