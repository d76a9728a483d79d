import Foundation
import TestSupport
import Testing

@testable import Daemon

/// `purser backup`, `restore`, `store check` and `deliveries release`, with a daemon that is started and stopped.
struct StoreCommandTests {
    /// What the doctor finds at a daemon that has found its store usable: a busy machine may take longer for that than an
    /// operator is kept waiting.
    private func findings(of daemon: RunningDaemon) async throws -> [DoctorFinding] {
        try await Wait.value("the daemon to find its store usable") {
            let findings = await DaemonExamination(daemon: daemon).findings()
            return findings.contains { $0.check == "store" || $0.verdict == .warning } ? nil : findings
        }
    }

    @Test func `a backup is taken from a running daemon, restored, and released`() async throws {
        let installation = try DaemonInstallation()
        let copy = installation.path("copy.db")
        try await installation.whileRunning {
            let made = await BackupCommand.run(to: copy, daemon: installation.daemon)
            #expect(made.status == .success, "\(made)")
            #expect(made.output.contains("The store is copied to \(copy)."))
            let again = await BackupCommand.run(to: copy, daemon: installation.daemon)
            #expect(again.status == .failure)
            #expect(again.errorOutput.contains(copy))
            let release = await ReleaseCommand.run(daemon: installation.daemon)
            #expect(release == CommandOutcome(.success, output: "Sending is not held; 0 deliveries wait.\n"))
            // The daemon has the store.
            let refused = installation.offline.restore(from: copy, replacing: true)
            #expect(refused.status == .failure)
            #expect(refused.errorOutput.contains("in use by another Purser"))
        }
        let kept = installation.offline.restore(from: copy, replacing: false)
        #expect(kept.status == .failure)
        #expect(kept.errorOutput.contains("--replace"))
        let restored = installation.offline.restore(from: copy, replacing: true)
        #expect(restored.status == .success, "\(restored)")
        #expect(restored.output.contains("is kept as \(installation.path("purser.db")).replaced-"))
        try await installation.whileRunning {
            let held = try await findings(of: installation.daemon)
            let sending = try #require(held.first { $0.check == "sending" })
            #expect(sending.verdict == .failure)
            #expect(sending.advice?.contains("purser deliveries release") == true)
            let release = await ReleaseCommand.run(daemon: installation.daemon)
            #expect(release.status == .success)
            #expect(release.output.hasPrefix("Sending was held since 2"), "\(release)")
            #expect(release.output.hasSuffix("It goes on now; 0 deliveries wait.\n"), "\(release)")
        }
    }

    @Test func `a store is examined by the daemon if it runs, and else without it`() async throws {
        let installation = try DaemonInstallation()
        let sound = CommandOutcome(.success, output: "Nothing is wrong with the store.\n")
        let missing = await StoreCheckCommand.run(daemon: installation.daemon, otherwise: installation.offline)
        #expect(missing.status == .failure)
        try await installation.whileRunning {
            let nowhere = OfflineStoreCommand(file: "/nowhere.yaml", environment: [:])
            let online = await StoreCheckCommand.run(daemon: installation.daemon, otherwise: nowhere)
            #expect(online == sound)
        }
        let offline = await StoreCheckCommand.run(daemon: installation.daemon, otherwise: installation.offline)
        #expect(offline == sound)
        try Data("no database, but as long as the head of one would be, and then some more".utf8)
            .write(to: installation.folder.appending(path: "purser.db"))
        // The log that the daemon leaves beside it holds the same pages.
        for suffix in ["-wal", "-shm"] {
            let log = installation.path("purser.db" + suffix)
            if FileManager.default.fileExists(atPath: log) { try FileManager.default.removeItem(atPath: log) }
        }
        let damaged = await StoreCheckCommand.run(daemon: installation.daemon, otherwise: installation.offline)
        #expect(damaged.status == .failure)
        #expect(damaged.errorOutput.contains(installation.path("purser.db")))
    }

    @Test func `a daemon without faults says so to the doctor, and one that does not run is no fault`() async throws {
        let installation = try DaemonInstallation()
        let examination = DaemonExamination(daemon: installation.daemon)
        #expect(await examination.findings() == [])
        try await installation.whileRunning {
            let findings = try await findings(of: installation.daemon)
            // It has no key, which is what this installation is about.
            #expect(findings.map(\.check) == ["key:coins"])
            #expect(findings.first?.app == "daemon")
            #expect(findings.first?.advice?.contains("docs/operations.md") == true)
        }
    }
}
