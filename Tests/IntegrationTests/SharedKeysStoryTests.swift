import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// Keys and callers that an operator adds at one copy, on one database of PostgreSQL's, as another copy has them.
@Suite(.needsPostgres)
struct SharedKeysStoryTests {
    private static let app = "/v1/apps/coins"

    private static func with(
        _ body: @escaping @Sendable (_ here: DaemonStage, _ there: DaemonStage) async throws -> Void
    )
        async throws
    {
        var settings = DaemonStage.Settings()
        settings.database = try await PostgresServer.running().makeNamedDatabase()
        settings.scopes = ["transactions:read"]
        try await DaemonStage.with(settings) { stage in
            let other = try stage.onAnotherHost()
            let processes = [try await stage.start(), try await other.start()]
            try await body(stage, other)
            for process in processes { #expect(try await process.terminate() == 0) }
        }
    }

    /// Runs a command at a copy.
    private static func run(_ arguments: String..., at stage: DaemonStage) async throws -> String {
        let outcome = try await stage.command(arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.errorOutput)")
        return outcome.output
    }

    @Test func `a key that was imported and activated at one copy signs at the other`() async throws {
        try await Self.with { here, there in
            let id = try here.sellGems()
            let file = try here.makeKey("KLMNOPQRST", at: "AuthKey_KLMNOPQRST.p8")
            _ = try await Self.run(
                "keys", "import", file.path, "--issuer", DaemonStage.issuer, "--app", "coins", at: here)
            try FileManager.default.removeItem(at: file)
            _ = try await Self.run("keys", "activate", "KLMNOPQRST", at: here)
            try await Wait.until("the other copy to know of it") {
                guard try await Self.run("keys", "list", at: there).contains("KLMNOPQRST") else { return false }
                return try await Self.run("keys", "show", "KLMNOPQRST", at: there).contains("active")
            }
            // From now on Apple takes tokens by the new key alone; the token that was made by the old one ends with it.
            try here.simulator.state.revokeKey("ABCDEFGHIJ")
            for stage in [there, here] {
                let reply = await stage.api().send("GET", "\(Self.app)/transactions/\(id)?environment=Production")
                #expect(reply?.status == 200, "\(String(decoding: reply?.body ?? [], as: UTF8.self))")
            }
        }
    }

    @Test func `a caller that was added at one copy may call the other, and is shut out by either`() async throws {
        try await Self.with { here, there in
            let id = try here.sellGems()
            let output = try await Self.run(
                "callers", "add", "shop", "--app", "coins", "--scope", "transactions:read", at: here)
            let token = try #require(output.firstMatch(of: /prs_[A-Za-z0-9_-]+/)).output
            let target = "\(Self.app)/transactions/\(id)?environment=Production"
            func status(at stage: DaemonStage) async -> Int? {
                await stage.api().send("GET", target, ["Authorization": "Bearer \(token)"])?.status
            }
            // Not by calls, since who fails too often is told to wait.
            try await Wait.until("the other copy to know the caller") {
                try await Self.run("callers", "list", at: there).contains("shop")
            }
            #expect(await status(at: there) == 200)
            _ = try await Self.run("callers", "remove", "shop", at: there)
            #expect(await status(at: there) == 401)
            try await Wait.until("the first copy to know that it is gone") {
                try await !Self.run("callers", "list", at: here).contains("shop")
            }
            #expect(await status(at: here) == 401)
        }
    }
}
