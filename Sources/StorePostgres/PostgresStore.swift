package import Domain
package import Foundation
package import Logging
package import Postgres
package import StoreSQL

/// Everything that is kept, in a database of PostgreSQL's.
///
/// Reads run beside each other, each in a snapshot; writes have turns, of which all copies of the daemon have one at a time (0050).
/// Nothing here blocks a thread of the cooperative pool.
package final class PostgresStore: SQLStore {
    /// How many reads may run at once, if nothing else is said.
    package static let defaultReaders = 4

    package let sharing: StoreSharing
    package let changes: ChangeSignal
    package let secrets: OpenedSecrets
    package let fresh = FreshNotifications()
    package let maximumKnownIdentifiers: Int
    private let readers: PostgresPool
    private let writer: PostgresPool
    private let turns: WriteTurns
    private let listener: PostgresListener
    private let feed: CopyNewsFeed
    private let executorHeartbeat: ExecutorHeartbeat
    private let outage: Outage
    private let readOutage: Outage
    private let time: StoreOperation.Timer

    private init(
        _ configuration: PostgresConfiguration, sharing: StoreSharing, writer: PostgresPool, origin: StoreOrigin,
        readers: Int,
        maximumKnownIdentifiers: Int, secrets: OpenedSecrets, time: @escaping StoreOperation.Timer, logger: Logger
    ) throws(PostgresError) {
        let changes = ChangeSignal()
        self.changes = changes
        self.sharing = sharing
        self.secrets = secrets
        self.maximumKnownIdentifiers = maximumKnownIdentifiers
        self.time = time
        self.writer = writer
        self.readers = PostgresPool(configuration, size: readers, name: "postgres-read")
        executorHeartbeat = ExecutorHeartbeat()
        outage = Outage(
            "The store cannot be written: nothing new is accepted until it can",
            ended: "The store can be written again", logger: logger)
        readOutage = Outage("The store cannot be read", ended: "The store can be read again", logger: logger)
        turns = WriteTurns(writer, origin, executorHeartbeat, outage)
        let feed = CopyNewsFeed()
        self.feed = feed
        listener = try PostgresListener(configuration, channels: PostgresNews.channels) { event in
            PostgresNews.pass(event, to: changes, feed)
        }
    }

    /// Connects, and migrates the database forward as needed.
    ///
    /// - Parameters:
    ///   - configuration: the server and the database.
    ///   - sharing: whether other copies may have the database at the same time.
    ///   - readers: how many reads may run at once; there is a connection more for writes, and one that listens.
    ///   - maximumKnownIdentifiers: how many identifiers are remembered before the oldest are forgotten.
    ///   - apps: whose settings the rules look at are kept with the rows that they judge.
    ///   - secrets: opens what the store keeps sealed of this installation's own. Without it a user who has withdrawn consent
    ///     cannot be erased.
    ///   - time: told how long operations take; it must be quick.
    ///   - logger: told when nothing can be written, and when that is over.
    /// - Returns: the store, ready for use.
    /// - Throws: `storeUnavailable`, naming the server and what is wrong.
    package static func open(
        _ configuration: PostgresConfiguration, sharing: StoreSharing = .shared, readers: Int = defaultReaders,
        maximumKnownIdentifiers: Int = 5_000_000, apps: [App] = [],
        secrets: (any InstallationSecrets)? = nil,
        time: @escaping StoreOperation.Timer = { _, _ in },
        logger: Logger = Logger(label: "purser.store") { _ in SwiftLogNoOpLogHandler() }
    ) async throws(ServiceError) -> PostgresStore {
        let writer = PostgresPool(configuration, size: 1, name: "postgres-write")
        let origin = StoreOrigin(logger: logger)
        do {
            let opened = try await writer.withConnection { connection in
                try PostgresServerCheck.check(connection, logger)
                let database = PostgresDatabase.of(connection)
                try database.takeTogether()
                try PostgresSchema.migrate(connection)
                try origin.beginTurn(database)
                if !apps.isEmpty { try AppSettingRow.save(apps, in: database) }
                let opened = try secrets.map { try OpenedSecrets.open(with: $0, in: database) }
                try origin.commit(database)
                return opened
            }
            return try PostgresStore(
                configuration, sharing: sharing, writer: writer, origin: origin, readers: readers,
                maximumKnownIdentifiers: maximumKnownIdentifiers,
                secrets: opened ?? .none, time: time, logger: logger)
        } catch {
            await writer.shutdown()
            throw PostgresFailure.serviceError(error, doing: "open", store: "The store \(configuration.description)")
        }
    }

    /// What a database contains sealed, and which instances run on it; changes nothing.
    ///
    /// - Returns: an empty inventory for a database without our tables.
    /// - Throws: `storeUnavailable`, naming the server and what is wrong.
    package static func sealedInventory(
        _ configuration: PostgresConfiguration
    ) async throws(ServiceError) -> SealedInventory {
        let pool = PostgresPool(configuration, size: 1, name: "postgres-inventory")
        let result: Result<SealedInventory, any Error>
        do {
            result = .success(
                try await pool.withConnection { connection in
                    let tables = try connection.execute("SELECT 1 WHERE to_regclass('copy') IS NOT NULL")
                    guard tables.rowCount == 1 else { return SealedInventory() }
                    return try PostgresDatabase.of(connection).snapshot { database in
                        var inventory = try SealedInventory.read(from: database)
                        inventory.instances = try SQLRow.fetchAll(
                            database, sql: "SELECT id FROM copy WHERE livesUntil > storeTime() ORDER BY id"
                        ).map { try $0.value("id", as: String.self) }
                        return inventory
                    }
                })
        } catch {
            result = .failure(error)
        }
        await pool.shutdown()
        do {
            return try result.get()
        } catch {
            throw PostgresFailure.serviceError(
                error, doing: "read the sealed secrets", store: "The store \(configuration.description)")
        }
    }

    package func news() -> AsyncStream<CopyNews> { feed.listen() }

    package func close() async {
        await listener.shutdown()
        await readers.shutdown()
        await writer.shutdown()
    }
}

// MARK: Access

extension PostgresStore {
    package func read<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value { try await read(.read, purpose, body) }

    package func glance<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value { try await read(.lookUp, purpose, body) }

    private func read<Value: Sendable>(
        _ operation: StoreOperation, _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value {
        let start = ContinuousClock.now
        defer { time(operation, start.duration(to: .now)) }
        let attempt: @Sendable (PostgresConnection) throws -> Value = { connection in
            try PostgresDatabase.of(connection).snapshot { try body($0) }
        }
        do {
            let value: Value
            do {
                value = try await readers.withConnection(attempt)
            } catch let error as PostgresError where error.mayHelpToRepeat {
                // Nothing was changed, so that it may be asked again.
                value = try await readers.withConnection(attempt)
            }
            readOutage.succeeded()
            return value
        } catch {
            if let error = error as? PostgresError, error.isOfServer { readOutage.failed(error.description) }
            throw PostgresFailure.serviceError(error, doing: purpose)
        }
    }

    package func write<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value {
        let start = ContinuousClock.now
        defer { time(.write, start.duration(to: .now)) }
        do {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                turns.submit(
                    PendingWrite(
                        run: { database in
                            let value = try body(database)
                            return { continuation.resume(returning: value) }
                        },
                        fail: { continuation.resume(throwing: $0) }))
            }
        } catch {
            throw PostgresFailure.serviceError(error, doing: purpose)
        }
    }

    /// What was removed is overwritten when PostgreSQL cleans up behind itself, which is its own business and its operator's.
    package func overwriteRemoved() async throws(ServiceError) {}

    package func backup(to path: String, at now: Date) async throws(ServiceError) {
        throw ServiceError(
            .storeUnavailable,
            "The store is a database of PostgreSQL's, which is backed up with PostgreSQL's own tools, such as pg_dump.")
    }

    package func checkIntegrity() async throws(ServiceError) -> [String] {
        try await read("check the store") { try KeptRules.violations(in: $0) }
    }
}

// MARK: Health

extension PostgresStore {
    package var waitingWrites: Int { turns.pendingCount }

    package var problem: String? { outage.cause ?? readOutage.cause }

    package func noteHang(_ patience: Duration) { outage.failed("a write takes longer than \(patience)") }

    package func heartbeat() async {
        guard let nextRun = executorHeartbeat.nextRun() else { return }
        writer.submit { [executorHeartbeat] _ in executorHeartbeat.ran() }
        for await _ in nextRun {}
    }
}

/// What a server must be like.
enum PostgresServerCheck {
    private static let oldestVersion = 150_000

    /// - Throws: `storeUnavailable` with what is wrong; `PostgresError`.
    ///
    /// `logger`: told what is not as it should be, and is the server's operators' to decide.
    static func check(_ connection: PostgresConnection, _ logger: Logger? = nil) throws {
        guard connection.serverVersion >= oldestVersion else {
            throw failure("its server is older than PostgreSQL 15")
        }
        let answer = try connection.executeOnce(
            "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()")
        guard answer.text(0, 0) == "UTF8" else { throw failure("its encoding is not UTF8") }
        let flushes = try connection.executeOnce("SELECT current_setting('fsync')")
        if flushes.text(0, 0) == "off" {
            logger?.warning(
                "The server does not wait for its disk (fsync = off): a crash of its host loses what was confirmed, or all of it"
            )
        }
    }

    /// Lets a connection wait at each commit until it is on disk, where the server's configuration says that it need not; what says more than
    /// that, such as `remote_apply`, stays.
    ///
    /// - Throws: `storeUnavailable` when it does not; `PostgresError`.
    static func makeDurable(_ database: PostgresDatabase) throws {
        let setting = "current_setting('synchronous_commit')"
        _ = try database.makeStatement(
            sql: "SELECT set_config('synchronous_commit', 'on', FALSE) WHERE \(setting) = 'off'"
        ).rows(arguments: [])
        guard try String.fetchOne(database, sql: "SELECT \(setting)") != "off" else {
            throw failure(
                "`synchronous_commit` is off and cannot be switched on: what is confirmed would not be on disk")
        }
    }

    private static func failure(_ reason: String) -> ServiceError {
        ServiceError(.storeUnavailable, "The database cannot be used: \(reason).", cause: reason)
    }
}

/// Turns what PostgreSQL says into an error of ours.
enum PostgresFailure {
    /// The error for our side; the error itself if it is ours already.
    static func serviceError(_ error: any Error, doing purpose: String, store: String = "The store") -> ServiceError {
        switch error {
        case let error as ServiceError: error
        case let error as PostgresError:
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: \(reason(of: error.kind)).",
                cause: "\(purpose): PostgreSQL: \(error)")
        case is CancellationError:
            ServiceError(.storeUnavailable, "The request was cancelled.", cause: "\(purpose): cancelled")
        case let error as SQLError:
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: it holds what it should not.",
                cause: "\(purpose): \(error)")
        default:
            // A description of other errors may hold a row's values.
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: it holds what it should not.",
                cause: "\(purpose): \(type(of: error))")
        }
    }

    private static func reason(of kind: PostgresError.Kind) -> String {
        switch kind {
        case .connection: "its database cannot be reached"
        case .authentication: "its database does not let Purser in"
        case .unavailable: "its database takes nothing"
        case .tooManyWaiting, .serialization: "it is busy"
        case .shutDown: "it is closed"
        case .constraint, .value, .other: "its database refuses"
        }
    }
}
