package import Domain
import Foundation
import JSON
import KeyCustody
import OpenSSL
import Postgres
import StorePostgres
import StoreSQL
import StoreSQLite

/// `purser store move`: copies what an SQLite file keeps into an empty database of PostgreSQL's, all of it or nothing.
package struct StoreMoveCommand: Sendable {
    /// What was asked for.
    package struct Options: Sendable {
        /// A path, or `sqlite:` and a path.
        package let source: String
        /// `postgres://USER@HOST/DATABASE`.
        package let target: String
        /// The configuration file, for `masterKey` and `storePassword`.
        package let file: String
        package let format: OperatorQuery.Format

        package init(from source: String, to target: String, file: String, format: OperatorQuery.Format) {
            self.source = source.hasPrefix("sqlite:") ? String(source.dropFirst("sqlite:".count)) : source
            self.target = target
            self.file = file
            self.format = format
        }
    }

    private let options: Options
    private let environment: [String: String]
    private let now: WallClock
    /// Told how far it is, a line each.
    private let tell: @Sendable (String) -> Void

    package init(
        _ options: Options, environment: [String: String], now: @escaping WallClock = { Date() },
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.options = options
        self.environment = environment
        self.now = now
        self.tell = tell
    }

    /// Moves the store.
    ///
    /// - Returns: `success`; `configuration` for what the configuration lacks; `noInput` when there is no such file; or `failure`,
    ///   and then the database holds nothing, unless it is said that this is not known.
    package func run() async -> CommandOutcome {
        await RunningDaemon.outcome {
            let source = URL(filePath: options.source).standardizedFileURL.path(percentEncoded: false)
            let configuration = try DaemonConfiguration.load(
                file: options.file, flags: ConfigurationFlags(store: options.target), environment: environment)
            guard case .postgres(let target) = configuration.store else {
                return CommandOutcome(
                    .failure,
                    errorOutput: "A store is moved into a database of PostgreSQL's: --to begins with postgres://.\n")
            }
            guard access(source, F_OK) == 0 else {
                return CommandOutcome(.noInput, errorOutput: "There is no store at \(source).\n")
            }
            let masterKey = configuration.masterKey
            let owners = configuration.secretFiles
            let vault = try await Blocking.run {
                Result { () throws(SecretFileError) in
                    try masterKey.check(owners: owners)
                    return try SecretVault.open(masterKey).vault
                }
            }.get()
            let store = try await SQLiteStore.open(at: source)
            let outcome = await RunningDaemon.outcome { try await move(store, source, to: target, vault) }
            await store.close()
            try OfflineStoreCommand.giveToFolderOwner(source)
            return outcome
        }
    }

    private func move(
        _ store: SQLiteStore, _ source: String, to target: PostgresConfiguration, _ vault: SecretVault
    ) async throws -> CommandOutcome {
        tell("Examining \(source)")
        let faults = try await store.checkIntegrity()
        guard faults.isEmpty else {
            return CommandOutcome(
                .failure, errorOutput: faults.map { "\($0)\n" }.joined() + "Nothing was moved: the store is damaged.\n")
        }
        if let refusal = try await sealedElsewhere(store, source, vault) { return refusal }
        // Before anything arrives: at no moment are there two stores from which the same is sent.
        let hold = SendingHold(since: now(), reason: "The store was moved to \(target.description).")
        let position = try await store.write("hold sending") { database in
            try SendingHoldRow.insert(hold, into: database)
            return try database.lastInsertedRowID(of: "sendingHold")
        }
        let result = try await store.read("move") { [tell] database in
            Result { () throws(PostgresMove.Failure) in
                try PostgresMove.fill(
                    target, from: database, omitting: ("sendingHold", position),
                    digest: { try SHA256Digest.digest($0) },
                    progress: { table, rows in tell("\(table): \(rows) \(rows == 1 ? "row" : "rows")") })
            }
        }
        switch result {
        case .success(let tables):
            // Whoever goes on with the file instead goes another way from here.
            try await store.write("begin another epoch") { try EventEpochRow.renew(in: $0) }
            return moved(tables, from: source, to: target)
        case .failure(let failure) where failure.mayHaveHappened:
            return CommandOutcome(
                .failure,
                errorOutput: """
                    \(failure.error.message)
                    Nobody knows whether the store was moved: the connection ended in the last moment. Move it again: where it was \
                    moved, the answer is that the database is not empty. Nothing is sent from the file meanwhile, nor from the \
                    database after a second move; `purser deliveries release` ends that.

                    """)
        case .failure(let failure):
            try await store.write("release sending") { try SendingHoldRow.delete(position, from: $0) }
            return CommandOutcome(
                .failure, errorOutput: "\(failure.error.message)\nNothing was moved, and the file is as it was.\n")
        }
    }

    /// Refuses where the configuration's master key is not the one that the store's secrets are sealed under.
    private func sealedElsewhere(
        _ store: SQLiteStore, _ source: String, _ vault: SecretVault
    ) async throws -> CommandOutcome? {
        let ids = try await store.read("look for sealed secrets") { database in
            try String.fetchAll(database, sql: "SELECT DISTINCT masterKeyId FROM sealedSecret ORDER BY masterKeyId")
        }
        let unknown = ids.filter { !vault.holds(masterKeyID: $0) }
        guard !unknown.isEmpty else { return nil }
        let made = StoreLocation.sqlite(path: source).companion("masterkey")
        let advice =
            access(made, F_OK) == 0
            ? "That is in \(made), which the daemon made: copy it to where every host that runs Purser has it, and name it there."
            : "Name the file that has it."
        return CommandOutcome(
            .configuration,
            errorOutput: """
                The secrets of \(source) are sealed under the master key \(unknown.joined(separator: ", ")), and `masterKey` of \
                \(options.file) names another one (\(vault.masterKeyID)). \(advice)
                Nothing was moved.

                """)
    }

    private func moved(
        _ tables: [PostgresMove.Table], from source: String, to target: PostgresConfiguration
    ) -> CommandOutcome {
        let rows = tables.reduce(0) { $0 + $1.digest.rowCount }
        guard options.format == .table else {
            let list = tables.map { table in
                JSONValue.object(
                    JSONObject([
                        ("name", .string(table.name)), ("rows", .number(JSONNumber(table.digest.rowCount))),
                        ("digest", .string(table.digest.hexadecimal)),
                    ]))
            }
            let answer = JSONValue.object(
                JSONObject([
                    ("from", .string(source)), ("to", .string(target.description)), ("rows", .number(JSONNumber(rows))),
                    ("tables", .array(list)),
                ]))
            return CommandOutcome(.success, output: answer.serializedString(pretty: true) + "\n")
        }
        return CommandOutcome(
            .success,
            output: """
                \(rows) rows of \(tables.count) tables are moved from \(source) to \(target.description); counts and digests of \
                each are the same in both.
                Set `store` of the configuration to it and start Purser. The file is kept, and nothing is sent from it any more: \
                put it away with the backups.

                """)
    }
}
