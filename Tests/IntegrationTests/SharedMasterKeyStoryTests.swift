import Foundation
import TestSupport
import Testing

/// The master key of several instances on one PostgreSQL database.
@Suite(.needsPostgres)
struct SharedMasterKeyStoryTests {
    private static func with(_ body: @escaping @Sendable (_ stage: DaemonStage) async throws -> Void) async throws {
        var settings = DaemonStage.Settings()
        settings.database = try await PostgresServer.running().makeNamedDatabase()
        settings.scopes = ["transactions:read"]
        settings.hasMasterKeyPerHost = true
        try await DaemonStage.with(settings, body)
    }

    private static func line(_ digit: String) -> String { String(repeating: digit, count: 64) + "\n" }

    private static func write(_ text: String, _ stage: DaemonStage) throws {
        try Data(text.utf8).write(to: URL(filePath: stage.masterKey))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: stage.masterKey)
    }

    /// The master keys of a host, each with a line feed.
    private static func read(_ stage: DaemonStage) throws -> String {
        let text = try String(contentsOfFile: stage.masterKey, encoding: .utf8)
        return text.hasSuffix("\n") ? text : text + "\n"
    }

    @Test func `an instance with another master key is refused and changes nothing for the others`() async throws {
        try await Self.with { here in
            let there = try here.onAnotherHost()
            let first = try await here.start()
            let original = try Self.read(here)
            try Self.write(Self.line("a"), there)
            let refused = try there.launch()
            #expect(try await refused.ended == 78, "\(refused.log.text)")
            let masterKeyID = try MasterKeyFixture.lostID(in: refused.log.text)
            // The loss cannot be accepted while an instance runs that holds the master key.
            let accepting = try there.launch(options: ["--accept-new-master-key=\(masterKeyID)"])
            #expect(try await accepting.ended == 1, "\(accepting.log.text)")
            #expect(accepting.log.text.contains("Other instances run on the store"))
            #expect(try await first.terminate() == 0)
            // The store still opens with the original master key alone.
            let again = try await here.start()
            #expect(try await again.terminate() == 0)
            #expect(try Self.read(here) == original)
        }
    }

    @Test func `a secret that lost the old master key is refused, and both lines start`() async throws {
        try await Self.with { stage in
            let first = try await stage.start()
            #expect(try await first.terminate() == 0)
            let original = try Self.read(stage)
            // As when the secret of Kubernetes is replaced instead of extended.
            try Self.write(Self.line("b"), stage)
            let refused = try stage.launch()
            #expect(try await refused.ended == 78, "\(refused.log.text)")
            try Self.write(Self.line("b") + original, stage)
            let second = try await stage.start()
            let rewrapped = try await stage.command("keys", "rewrap")
            #expect(rewrapped.status == 0, "\(rewrapped)")
            #expect(try await second.terminate() == 0)
            try Self.write(Self.line("b"), stage)
            let third = try await stage.start()
            #expect(try await third.terminate() == 0)
        }
    }

    @Test func `three instances change the master key one after the other, and none is refused`() async throws {
        try await Self.with { here in
            let stages = [here, try here.onAnotherHost(), try here.onAnotherHost(named: "c")]
            var processes: [DaemonProcess] = []
            for stage in stages { processes.append(try await stage.start()) }
            let original = try Self.read(here)
            let both = Self.line("c") + original
            for (index, stage) in stages.enumerated() {
                try Self.write(both, stage)
                guard index < 2 else { break }
                #expect(try await processes[index].terminate() == 0)
                processes[index] = try await stage.start()
            }
            // The third instance has not read the new master key yet.
            let early = try await here.command("keys", "rewrap")
            #expect(early.status != 0 && early.errorOutput.contains("is not on every instance"), "\(early)")
            #expect(try await processes[2].terminate() == 0)
            processes[2] = try await stages[2].start()
            let rewrapped = try await Wait.value("every instance to report the new master key") {
                let outcome = try await here.command("keys", "rewrap")
                return outcome.status == 0 ? outcome : nil
            }
            #expect(rewrapped.output.contains("sealed"), "\(rewrapped)")
            for (index, stage) in stages.enumerated() {
                try Self.write(Self.line("c"), stage)
                #expect(try await processes[index].terminate() == 0)
                processes[index] = try await stage.start()
            }
            for process in processes { #expect(try await process.terminate() == 0) }
        }
    }
}
