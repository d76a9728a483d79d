import Foundation
import TestSupport
import Testing

/// Operators at a real daemon's socket, by the program that they use.
@Suite(.endsHangs)
struct OperatorAccessTests {
    @Test func `the daemon logs who an operator is, and who it says it is`() async throws {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let outcome = try await DaemonStage.purser([
                "callers", "list", "--config", stage.configuration, "--as", "alice@example.com",
            ])
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("billing"))
            let socket = stage.folder.appending(path: "admin.sock").path
            let unnamed = try await DaemonStage.purser(["callers", "list", "--socket", socket])
            #expect(unnamed.status == 0)
            let permissions = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            #expect(try await daemon.terminate() == 0)
            let lines = daemon.log.text.split(separator: "\n").filter { $0.contains("\"listener\":\"admin\"") }
            let acts = lines.filter { $0.contains("\"actor\":\"operator:\(geteuid())\"") }
            #expect(acts.count == 2)
            #expect(acts.filter { $0.contains("\"claimed_name\":\"alice@example.com\"") }.count == 1)
        }
    }

    @Test func `what an operator does is in the audit by its user id, with the name that it claims beside it`()
        async throws
    {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            for arguments in [
                ["callers", "add", "shop", "--app", "coins", "--scope", "refunds:read", "--as", "alice@example.com"],
                ["callers", "remove", "shop"],
            ] {
                let outcome = try await DaemonStage.purser(arguments + ["--config", stage.configuration])
                #expect(outcome.status == 0, "\(outcome.errorOutput)")
            }
            let records = try await DaemonStage.purser(
                ["audit", "export", "--config", stage.configuration, "--actor", "operator:\(geteuid())"]
            ).output.split(separator: "\n").filter { $0.contains("\"caller\":\"shop\"") }
            #expect(records.count >= 2)
            #expect(records.allSatisfy { $0.contains("\"actor\":\"operator:\(geteuid())\"") })
            #expect(records.first?.contains("\"claimedName\":\"alice@example.com\"") == true)
            #expect(records.last?.contains("claimedName") == false)
            #expect(try await daemon.terminate() == 0)
        }
    }
}
