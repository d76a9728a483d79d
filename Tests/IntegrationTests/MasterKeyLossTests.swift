import Foundation
import TestSupport
import Testing

/// What the tests of a lost master key share.
enum MasterKeyFixture {
    /// The exit status of a configuration error, which systemd does not restart (`RestartPreventExitStatus=78`).
    private static let configurationError: Int32 = 78

    /// The id that a refusal prints in the option which accepts the loss.
    static func lostID(in text: String) throws -> String {
        let match = try #require(text.firstMatch(of: /--accept-new-master-key=([0-9a-f]{16})/), "\(text)")
        return String(match.1)
    }

    /// Starts a daemon and expects that it refuses the master key and changes no byte of the store.
    static func expectRefusal(_ stage: DaemonStage, of masterKeyID: String) async throws {
        let before = try contents(stage)
        let daemon = try stage.launch()
        #expect(try await daemon.ended == configurationError, "\(daemon.log.text)")
        #expect(daemon.log.text.contains(masterKeyID), "\(daemon.log.text)")
        #expect(try contents(stage) == before)
        let check = try await DaemonStage.program(["config", "check", stage.configuration])
        #expect(check.status == configurationError)
        #expect(try lostID(in: check.errorOutput) == masterKeyID)
    }

    /// The bytes of the store and of the master key, by file name.
    private static func contents(_ stage: DaemonStage) throws -> [String: Data] {
        let files = try FileManager.default.contentsOfDirectory(at: stage.storeFolder, includingPropertiesForKeys: nil)
        return try files.filter { ["db", "masterkey"].contains($0.pathExtension) }
            .reduce(into: [:]) { $0[$1.lastPathComponent] = try Data(contentsOf: $1) }
    }
}

/// A daemon whose master key is missing or wrong, as a process.
struct MasterKeyLossTests {
    /// Imports a key, and returns the id of the master key that it is sealed under.
    private func importKey(_ stage: DaemonStage) async throws -> String {
        let daemon = try await stage.start()
        let file = try stage.makeKey("IMPORTED01", at: "IMPORTED01.p8").path
        let imported = try await stage.command(
            "keys", "import", file, "--issuer", DaemonStage.issuer, "--app", "coins")
        #expect(imported.status == 0, "\(imported)")
        #expect(try await daemon.terminate() == 0)
        let check = try await withoutMasterKey(stage) {
            try await DaemonStage.program(["config", "check", stage.configuration])
        }
        return try MasterKeyFixture.lostID(in: check.errorOutput)
    }

    private func withoutMasterKey<Value>(
        _ stage: DaemonStage, _ body: () async throws -> Value
    ) async throws -> Value {
        let elsewhere = stage.folder.appending(path: "elsewhere").path
        try FileManager.default.moveItem(atPath: stage.masterKey, toPath: elsewhere)
        let value = try await body()
        try? FileManager.default.removeItem(atPath: stage.masterKey)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: stage.masterKey)
        return value
    }

    /// Writes a master key of the same digit 64 times.
    private func writeMasterKey(_ digit: String, _ stage: DaemonStage) throws {
        try Data((String(repeating: digit, count: 64) + "\n").utf8).write(to: URL(filePath: stage.masterKey))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: stage.masterKey)
    }

    @Test func `a missing master key and another one are refused, and nothing changes`() async throws {
        try await DaemonStage.with { stage in
            let masterKeyID = try await importKey(stage)
            try await withoutMasterKey(stage) {
                try await MasterKeyFixture.expectRefusal(stage, of: masterKeyID)
                #expect(!FileManager.default.fileExists(atPath: stage.masterKey))
                try writeMasterKey("a", stage)
                try await MasterKeyFixture.expectRefusal(stage, of: masterKeyID)
                // The acceptance of another loss is none of this one.
                let daemon = try stage.launch(options: ["--accept-new-master-key=0123456789abcdef"])
                #expect(try await daemon.ended == 78)
            }
            let daemon = try await stage.start()
            let list = try await stage.command("keys", "list")
            #expect(list.output.contains("IMPORTED01") && !list.output.contains("CANNOT SIGN"), "\(list)")
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `a loss is accepted once, audited, and ends when the master key is back`() async throws {
        try await DaemonStage.with { stage in
            let masterKeyID = try await importKey(stage)
            try await withoutMasterKey(stage) {
                try writeMasterKey("b", stage)
                let first = try await stage.start(options: ["--accept-new-master-key=\(masterKeyID)"])
                let list = try await stage.command("keys", "list")
                #expect(list.output.contains("CANNOT SIGN: key IMPORTED01 is sealed under master key"), "\(list)")
                let audit = try await stage.command("audit", "list", "--action", "masterKeyLossAccepted")
                #expect(audit.output.contains(masterKeyID) && audit.output.contains("key IMPORTED01"), "\(audit)")
                #expect(try await first.terminate() == 0)
                let second = try await stage.start()
                #expect(try await second.terminate() == 0)
                let again = try await stage.start(options: ["--accept-new-master-key=\(masterKeyID)"])
                #expect(again.log.text.contains("Option --accept-new-master-key has no effect"))
                #expect(try await again.terminate() == 0)
            }
            // Under the master key of "b" are secrets of meanwhile.
            let original = try String(contentsOfFile: stage.masterKey, encoding: .utf8)
            let both = original + String(repeating: "b", count: 64) + "\n"
            try Data(both.utf8).write(to: URL(filePath: stage.masterKey))
            let third = try await stage.start()
            let list = try await stage.command("keys", "list")
            #expect(!list.output.contains("CANNOT SIGN"), "\(list)")
            #expect(try await third.terminate() == 0)
        }
    }

    @Test func `an unreadable key is deleted without the daemon, and a readable one is not`() async throws {
        try await DaemonStage.with { stage in
            _ = try await importKey(stage)
            let readable = try await stage.command("keys", "delete", "--unreadable", "IMPORTED01")
            #expect(readable.status == 1, "\(readable)")
            // Nothing opens without the file, so that every key would seem unreadable.
            let withoutFile = try await withoutMasterKey(stage) {
                try await stage.command("keys", "delete", "--unreadable", "IMPORTED01")
            }
            #expect(withoutFile.status == 78, "\(withoutFile)")
            try await withoutMasterKey(stage) {
                try writeMasterKey("c", stage)
                let deleted = try await stage.command("keys", "delete", "--unreadable", "IMPORTED01")
                #expect(deleted.status == 0 && deleted.output.contains("key IMPORTED01"), "\(deleted)")
            }
            let daemon = try await stage.start()
            let list = try await stage.command("keys", "list")
            #expect(!list.output.contains("IMPORTED01"), "\(list)")
            #expect(try await daemon.terminate() == 0)
        }
    }
}
