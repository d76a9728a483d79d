import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing

/// What a real daemon records, and what `purser audit` makes of it.
@Suite(.endsHangs)
struct AuditTests {
    private static let settings = DaemonStage.Settings(scopes: ["tokens:mint", "signatures:create"])

    private func records(_ stage: DaemonStage, _ arguments: String...) async throws -> [JSONValue] {
        let outcome = try await stage.command(["audit", "export"] + arguments)
        #expect(outcome.status == 0, "\(outcome.errorOutput)")
        return try outcome.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }

    private func digest(_ text: String?) throws -> JSONValue {
        .string(try SHA256Digest.hexadecimalDigest(Array(try #require(text).utf8)))
    }

    @Test func `every token and signature is named by its digest, and the whole log verifies beside the journal`()
        async throws
    {
        try await DaemonStage.with(Self.settings) { stage in
            let daemon = try await stage.start()
            let token = try #require(await stage.api("game").send("POST", "/v1/apps/coins/tokens")?.json)
            let signature = await stage.api().send(
                "POST", "/v1/apps/coins/signatures/promotionalOffer",
                body: ["productId": "gold", "offerIdentifier": "win"])?.json
            #expect(await stage.api("nobody").send("GET", "/v1/apps")?.status == 401)
            let tokens = try await records(stage, "--action", "tokenHandedOut")
            #expect(tokens.count == 1 && tokens.first?["actor"] == "caller:game")
            #expect(tokens.first?["keyId"] == "ABCDEFGHIJ" && tokens.first?["app"] == "coins")
            #expect(tokens.first?["tokenSHA256"] == (try digest(token["token"]?.string)))
            let signatures = try await records(stage, "--actor", "billing")
            #expect(signatures.last?["tokenSHA256"] == (try digest(signature?["signature"]?.string)))
            #expect(try await records(stage, "--action", "authenticationFailed").count == 1)
            #expect(try await daemon.terminate() == 0)
            let again = try await stage.start()
            #expect(try await again.terminate() == 0)

            let journal = stage.folder.appending(path: "journal").path
            try (daemon.log.text + again.log.text).write(toFile: journal, atomically: true, encoding: .utf8)
            let sound = try await stage.command("audit", "verify", "--journal", journal)
            #expect(sound.status == 0 && sound.output.contains("Nothing is wrong."), "\(sound)")
            // At least one at each start and stop; a slow run has those of its minutes besides.
            let heads = try #require(sound.output.firstMatch(of: /(\d+) of (\d+) heads/))
            #expect(heads.1 == heads.2 && (Int(heads.1) ?? 0) >= 4, "\(sound.output)")
            let actions = try await records(stage).compactMap { $0["action"]?.string }
            #expect(actions.count { $0 == "serviceStarted" } == 2 && actions.last == "serviceStopped")
            #expect(actions.contains("configurationLoaded"))
            try await tamper(stage, journal)
        }
    }

    /// Changes one record, and cuts off the last ones.
    private func tamper(_ stage: DaemonStage, _ journal: String) async throws {
        let segment = stage.storeFolder.appending(path: "purser.audit/00000001.jsonl")
        let text = try String(contentsOf: segment, encoding: .utf8)
        try Data(text.replacing("caller:game", with: "caller:shop").utf8).write(to: segment)
        let changed = try await stage.command("audit", "verify", "--journal", journal)
        #expect(changed.status == 1)
        #expect(changed.output.contains("changed: segment 1: Record "))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        try Data((lines.dropLast(2).joined(separator: "\n") + "\n").utf8).write(to: segment)
        let cut = try await stage.command("audit", "verify", "--journal", journal)
        #expect(cut.status == 1 && cut.output.contains("were cut off the end of chain"), "\(cut.output)")
        let alone = try await stage.command("audit", "verify")
        #expect(alone.status == 0 && alone.output.contains("Without the journal's heads"))
    }

    @Test func `what is recorded of a user is found by name until the user is erased, and never names the user`()
        async throws
    {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let user = "/v1/apps/coins/users/alice-0815"
            for consented in [true, false] {
                let reply = await stage.api().send(
                    "PUT", "\(user)/consent", body: ["consented": .bool(consented), "source": "settings"])
                #expect(reply?.status == 200)
            }
            let listed = try await stage.command("audit", "list", "--app", "coins", "--user", "alice-0815")
            #expect(listed.status == 0, "\(listed.errorOutput)")
            #expect(listed.output.split(separator: "\n").count == 2 && listed.output.contains("consented=false"))
            #expect(await stage.api().send("GET", "\(user):export")?.status == 200)
            #expect(await stage.api().send("DELETE", user)?.status == 200)
            let gone = try await stage.command("audit", "list", "--app", "coins", "--user", "alice-0815")
            #expect(gone.status == 0 && gone.output.isEmpty)
            let names = Set(try await records(stage, "--app", "coins").compactMap { $0["user"]?.string })
            #expect(names.count == 1, "one pseudonym for all of them, the export and the erasure included")
            #expect(try await records(stage, "--action", "userExported").count == 1)
            #expect(try await records(stage, "--action", "userErased").count == 1)
            let segment = stage.storeFolder.appending(path: "purser.audit/00000001.jsonl")
            #expect(try !String(contentsOf: segment, encoding: .utf8).contains("alice"))
            #expect(try await daemon.terminate() == 0)
            #expect(try await stage.command("audit", "verify").status == 0)
        }
    }

    @Test func `while the audit cannot be written no token and no signature is handed out`() async throws {
        try await DaemonStage.with(Self.settings) { stage in
            let daemon = try await stage.start()
            #expect(await stage.api().send("POST", "/v1/apps/coins/tokens")?.status == 200)
            try await daemon.limitFileSize(to: 0)
            for path in ["tokens", "signatures/promotionalOffer"] {
                let reply = await stage.api().send(
                    "POST", "/v1/apps/coins/\(path)",
                    body: path == "tokens" ? nil : ["productId": "gold", "offerIdentifier": "win"])
                #expect(reply?.status == 503 && reply?.json?["reason"] == "AUDIT_UNAVAILABLE")
            }
            let health = await stage.admin.send("GET", "/healthz")?.json?["parts"]?.array
            let part = health?.first { $0["name"] == "audit" }
            #expect(part?["healthy"] == false, "\(String(describing: part))")
            try await daemon.limitFileSize(to: nil)
            try await Wait.until("a token to be handed out again") {
                await stage.api().send("POST", "/v1/apps/coins/tokens")?.status == 200
            }
            #expect(try await daemon.terminate() == 0)
            let verified = try await stage.command("audit", "verify")
            #expect(verified.status == 0, "\(verified.output)")
            let actions = try await records(stage).compactMap { $0["action"]?.string }
            #expect(actions.contains("writingResumed"))
            #expect(actions.count { $0 == "tokenHandedOut" } >= 2)
        }
    }
}
