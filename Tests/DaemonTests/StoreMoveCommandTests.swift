import Daemon
import Domain
import Foundation
import JSON
import Postgres
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

/// `purser store move`, of a store that a daemon has used.
@Suite(.needsPostgres)
struct StoreMoveCommandTests {
    /// The URL by which a database of the tests' server is configured.
    private static func url(_ database: PostgresConfiguration) -> String {
        "postgres://\(database.user)@/\(database.database)?host=\(database.host)"
    }

    private static func move(
        _ installation: borrowing DaemonInstallation, to target: String, _ format: OperatorQuery.Format = .table,
        masterKey: String? = nil
    ) async -> (outcome: CommandOutcome, told: [String]) {
        let told = Mutex<[String]>([])
        let command = StoreMoveCommand(
            StoreMoveCommand.Options(
                from: "sqlite:\(installation.path("purser.db"))", to: target, file: installation.file, format: format),
            environment: masterKey.map { ["PURSER_MASTER_KEY_FILE": $0] } ?? [:]
        ) { line in told.withLock { $0.append(line) } }
        return (await command.run(), told.withLock(\.self))
    }

    private static func holds(_ installation: borrowing DaemonInstallation) async throws -> [String] {
        let store = try await SQLiteStore.open(at: installation.path("purser.db"))
        let reasons = try await store.read("look") { database in
            try String.fetchAll(database, sql: "SELECT reason FROM sendingHold WHERE releasedAt IS NULL")
        }
        await store.close()
        return reasons
    }

    @Test func `a store moves with the key that it is sealed under, and a daemon goes on with it`() async throws {
        let installation = try DaemonInstallation()
        let server = try await PostgresServer.running()
        let target = Self.url(try await server.makeDatabase())
        let missing = await Self.move(installation, to: target, masterKey: "/nowhere")
        #expect(missing.outcome.status == .noInput)
        try await installation.whileRunning {}
        let unnamed = await Self.move(installation, to: target)
        #expect(unnamed.outcome.status == .configuration)
        #expect(unnamed.outcome.errorOutput.contains("masterKey"), "\(unnamed)")

        let other = installation.path("other")
        try Data(String(repeating: "ab", count: 32).utf8).write(to: URL(filePath: other))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: other)
        let wrong = await Self.move(installation, to: target, masterKey: other)
        #expect(wrong.outcome.status == .configuration)
        #expect(wrong.outcome.errorOutput.contains(installation.path("purser.masterkey")), "\(wrong)")
        #expect(try await Self.holds(installation) == [])

        let key = installation.path("purser.masterkey")
        let moved = await Self.move(installation, to: target, .json, masterKey: key)
        #expect(moved.outcome.status == .success, "\(moved)")
        let answer = try JSONValue(parsing: Array(moved.outcome.output.utf8))
        #expect(answer["tables"]?.array?.contains { $0["name"] == "sealedSecret" && $0["rows"] != 0 } == true)
        #expect(moved.told.contains { $0.hasPrefix("sealedSecret: ") }, "\(moved.told)")
        #expect(try await Self.holds(installation).first?.hasPrefix("The store was moved to ") == true)

        let again = await Self.move(installation, to: target, masterKey: key)
        #expect(again.outcome.status == .failure)
        #expect(again.outcome.errorOutput.contains("not empty"))
        #expect(try await Self.holds(installation).count == 1)

        let environment = [
            "PURSER_STORE": target, "PURSER_MASTER_KEY_FILE": key,
            "PURSER_AUDIT_DIRECTORY": installation.path("purser.audit"),
            "PURSER_AUDIT_RESERVE_FILE": installation.path("purser.audit-reserve"),
        ]
        try await installation.whileRunning(environment) {
            let report = await StoreCheckCommand.run(daemon: installation.daemon, otherwise: installation.offline)
            #expect(report == CommandOutcome(.success, output: "Nothing is wrong with the store.\n"))
            let release = await ReleaseCommand.run(daemon: installation.daemon)
            #expect(release.output == "Sending is not held; 0 deliveries wait.\n")
            let taken = await Self.move(installation, to: target, masterKey: key)
            #expect(taken.outcome.status == .failure, "\(taken)")
        }
    }

    @Test func `where a daemon has the file nothing is moved`() async throws {
        let installation = try DaemonInstallation()
        let target = Self.url(try await PostgresServer.running().makeDatabase())
        try await installation.whileRunning {
            let refused = await Self.move(
                installation, to: target, masterKey: installation.path("purser.masterkey"))
            #expect(refused.outcome.status == .failure)
            #expect(refused.outcome.errorOutput.contains("in use by another Purser"), "\(refused)")
        }
    }
}
