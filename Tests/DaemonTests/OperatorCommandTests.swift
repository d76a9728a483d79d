import Daemon
import Foundation
import Testing

/// `purser backup` and `purser deliveries release` without a daemon, which they need.
struct OperatorCommandTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "operator-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func `without a daemon each says so and nothing is left behind`() async throws {
        try await withFolder { folder in
            let socket = folder.appending(path: "admin.sock").path
            let daemon = RunningDaemon(file: "/nowhere.yaml", socket: socket, environment: [:])
            let copy = folder.appending(path: "copy.db").path
            for outcome in [
                await BackupCommand.run(to: copy, daemon: daemon), await ReleaseCommand.run(daemon: daemon),
            ] {
                #expect(outcome.status == .failure)
                #expect(outcome.output.isEmpty)
                #expect(outcome.errorOutput.hasPrefix("No daemon answers at unix:\(socket)"))
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.isEmpty)
        }
    }

    @Test func `a configuration that cannot be read ends with 78`() async {
        let daemon = RunningDaemon(file: "/nowhere.yaml", socket: nil, environment: [:])
        let offline = OfflineStoreCommand(file: "/nowhere.yaml", environment: [:])
        for outcome in [
            await BackupCommand.run(to: "/nowhere/copy.db", daemon: daemon), await ReleaseCommand.run(daemon: daemon),
            offline.restore(from: "/nowhere/copy.db", replacing: false),
            await StoreCheckCommand.run(daemon: daemon, otherwise: offline),
        ] {
            #expect(outcome.status == .configuration)
            #expect(outcome.errorOutput.contains("/nowhere.yaml"))
        }
    }
}
