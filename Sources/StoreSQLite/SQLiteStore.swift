import CSQLite
package import Domain
import GRDB
import GRDBSQLite
package import Logging
package import StoreSQL

/// Everything that is kept, in one SQLite file.
///
/// Write-ahead logging, fsync on every commit, and an operating-system lock that keeps a second daemon out. Reads run beside
/// the one writer, writes that come at the same time share a commit; nothing here blocks a thread of the cooperative pool.
package final class SQLiteStore: SQLStore {
    /// How many reads may run at once.
    private static let maximumReaders = 4
    /// After how many pages the log is folded into the file: 32 MiB.
    ///
    /// That costs two more syncs and writes a page that changed often but once, so that seldom is cheap. While a read goes on
    /// for long, the log grows beyond.
    private static let checkpointInterval = 8192
    /// How long, in seconds, a statement waits for another process's lock on the file, as a backup takes one.
    private static let busyTimeout = 5.0

    /// The lock keeps every other process out.
    package var sharing: StoreSharing { .alone }
    /// Told of each commit that kept events.
    package let changes: ChangeSignal
    let pool: DatabasePool
    let executorHeartbeat: ExecutorHeartbeat
    let commits: GroupCommit
    private let glances: GroupRead
    let truncation: LogTruncation
    package let fresh = FreshNotifications()
    let files: StoreFileWatch
    /// Whether nothing can be written at present.
    let outage: Outage
    /// Whether nothing can be read at present.
    let readOutage: Outage
    package let maximumKnownIdentifiers: Int
    /// What opens of this installation's own secrets.
    package let secrets: OpenedSecrets
    private let lock: StoreLock
    /// Told how long an operation took from its call to its end, whatever that was.
    private let time: StoreOperation.Timer
    private let connections: GRDBConnections

    private init(
        pool: DatabasePool, connections: GRDBConnections, glances: GroupRead, lock: StoreLock,
        maximumKnownIdentifiers: Int, secrets: OpenedSecrets, files: StoreFileWatch,
        time: @escaping StoreOperation.Timer, logger: Logger
    ) {
        self.time = time
        self.connections = connections
        changes = ChangeSignal()
        pool.add(transactionObserver: EventObserver(changes: changes), extent: .databaseLifetime)
        self.pool = pool
        executorHeartbeat = ExecutorHeartbeat()
        outage = Outage(
            "The store cannot be written: nothing new is accepted until it can",
            ended: "The store can be written again",
            logger: logger)
        readOutage = Outage(
            "The store cannot be read", ended: "The store can be read again", logger: logger)
        commits = GroupCommit(
            pool: pool, connections: connections, executorHeartbeat: executorHeartbeat, files: files, outage: outage)
        self.glances = glances
        truncation = LogTruncation(pool: pool)
        self.maximumKnownIdentifiers = maximumKnownIdentifiers
        self.secrets = secrets
        self.lock = lock
        self.files = files
    }

    /// Opens the store, creating the file (mode 0600) and migrating it forward as needed.
    ///
    /// - Parameters:
    ///   - path: the file; its folder must exist.
    ///   - maximumKnownIdentifiers: how many identifiers are remembered before the oldest are forgotten. Five million take
    ///     about half a gigabyte.
    ///   - apps: whose settings the rules look at are kept with the rows that they judge.
    ///   - secrets: opens what the store keeps sealed of this installation's own. Without it a user who has withdrawn consent
    ///     cannot be erased.
    ///   - time: told how long operations take; it must be quick.
    ///   - logger: told when nothing can be written, and when that is over.
    /// - Returns: the store, ready for use.
    /// - Throws: `storeUnavailable`, naming the file and what is wrong: no folder, another daemon, not a database, another
    ///   program's, written by a newer version.
    package static func open(
        at path: String, maximumKnownIdentifiers: Int = 5_000_000, apps: [App] = [],
        secrets: (any InstallationSecrets)? = nil, time: @escaping StoreOperation.Timer = { _, _ in },
        logger: Logger = Logger(label: "purser.store") { _ in SwiftLogNoOpLogHandler() }
    ) async throws(ServiceError) -> SQLiteStore {
        try await Blocking.run {
            Result { () throws(ServiceError) in
                try openNow(
                    at: path, maximumKnownIdentifiers: maximumKnownIdentifiers, apps: apps, secrets: secrets,
                    time: time, logger: logger)
            }
        }.get()
    }

    /// Ends all work and gives the file free for another process; every later call is `storeUnavailable`.
    package func close() async {
        await Blocking.run { [pool, glances, lock] in
            do {
                try glances.close()
                // GRDB closes the readers last. They may not write, so that none of them could fold the log into the file.
                pool.invalidateReadOnlyConnections()
                try pool.close()
                lock.release()
            } catch {
                // SQLite still has the file open, so the lock is kept as well: both end with this object or the process.
            }
        }
    }

    private static func openNow(
        at path: String, maximumKnownIdentifiers: Int, apps: [App],
        secrets: (any InstallationSecrets)?, time: @escaping StoreOperation.Timer, logger: Logger
    ) throws(ServiceError) -> SQLiteStore {
        let file = try StoreFile.resolve(path)
        let lock = try StoreLock.acquire(for: file)
        try StoreFile.prepare(file)
        do {
            try LogGathering.install()
            let pool = try DatabasePool(path: file, configuration: configuration(file))
            // GRDB gives the pool's writer synchronous=NORMAL; what we promise must survive a power cut.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // What is erased is overwritten, and not only given free.
                try database.execute(sql: "PRAGMA secure_delete = ON")
                try database.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointInterval)")
            }
            try Schema.migrate(pool)
            // Savepoints and sorts keep their pages in memory. Not before: a migration's index may sort a whole table.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA temp_store = MEMORY")
                // SQLite up to 3.40 at least commits with wrong checksums where pages left the cache before the commit and a
                // savepoint took some of them back: after a crash, nothing from there on would be found in the log.
                try database.execute(sql: "PRAGMA cache_spill = OFF")
            }
            if !apps.isEmpty {
                try pool.write { try AppSettingRow.save(apps, in: GRDBConnection($0)) }
            }
            let opened = try secrets.map { secrets in
                try pool.write { try OpenedSecrets.open(with: secrets, in: GRDBConnection($0)) }
            }
            // What was overwritten still stands in the log.
            if opened?.states.values.contains(.sealed) == true {
                _ = try pool.barrierWriteWithoutTransaction { try $0.checkpoint(.truncate) }
            }
            let connections = GRDBConnections()
            let glances = try GroupRead(file: file, connections, configuration: configuration(file))
            return SQLiteStore(
                pool: pool, connections: connections, glances: glances, lock: lock,
                maximumKnownIdentifiers: maximumKnownIdentifiers,
                secrets: opened ?? .none, files: StoreFileWatch(file), time: time, logger: logger)
        } catch {
            throw StoreFailure.serviceError(error, doing: "open", store: "The store \(file)")
        }
    }

    private static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration()
        configuration.label = "purser.store"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.foreignKeysEnabled = true
        configuration.maximumReaderCount = maximumReaders
        configuration.prepareDatabase { database in
            try database.compileStatementsOnce()
            // The writer comes first, and GRDB changes nothing of the file before this.
            guard !database.configuration.readonly else { return }
            try Schema.check(database, path: path)
        }
        return configuration
    }
}

// MARK: Access

extension SQLiteStore {
    /// The SQLite that this process runs with, such as `3.40.1`.
    package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    /// How many writes wait for their turn.
    package var waitingWrites: Int { commits.pendingCount }

    /// Runs one read-only snapshot.
    package func read<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value {
        let start = ContinuousClock.now
        defer { time(.read, start.duration(to: .now)) }
        do {
            let value = try await pool.unsafeRead { [connections] database in
                try database.inCachedSnapshot { try body(connections.connection($0)) }
            }
            readOutage.succeeded()
            return value
        } catch {
            noteReadFailure(error)
            throw StoreFailure.serviceError(error, doing: purpose)
        }
    }

    /// Runs a short read, which finds a row or none by an index; those that come at the same time share a snapshot.
    package func glance<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value {
        let start = ContinuousClock.now
        defer { time(.lookUp, start.duration(to: .now)) }
        do {
            try Task.checkCancellation()
            let value = try await withCheckedThrowingContinuation { continuation in
                glances.submit(
                    PendingRead(
                        run: { database in
                            let result = Result { try body(database) }
                            return { continuation.resume(with: result) }
                        },
                        fail: { continuation.resume(throwing: $0) }))
            }
            readOutage.succeeded()
            return value
        } catch {
            noteReadFailure(error)
            throw StoreFailure.serviceError(error, doing: purpose)
        }
    }

    private func noteReadFailure(_ error: any Error) {
        guard let error = StoreFailure.ofDisk(error),
            // Damage is of some pages: most reads succeed.
            error.resultCode != .SQLITE_CORRUPT
        else { return }
        readOutage.failed(StoreFailure.cause(error))
    }

    /// Runs one atomic operation; what it wrote is on disk when this returns.
    ///
    /// Operations that come at the same time share a transaction. A task that is cancelled before its operation is taken
    /// over changes nothing; after that the operation runs to its end.
    package func write<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(ServiceError) -> Value {
        let start = ContinuousClock.now
        defer { time(.write, start.duration(to: .now)) }
        do {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                commits.submit(
                    PendingWrite(
                        run: { database in
                            let value = try body(database)
                            return { continuation.resume(returning: value) }
                        },
                        fail: { continuation.resume(throwing: $0) }))
            }
        } catch {
            throw StoreFailure.serviceError(error, doing: purpose)
        }
    }
}

// MARK: Health

extension SQLiteStore {
    /// Why nothing can be written, or read, at present; nil when it can, as far as has been tried.
    package var problem: String? { outage.cause ?? readOutage.cause }

    /// Takes note that a write does not come to an end, as on a disk that hangs.
    package func noteHang(_ patience: Duration) { outage.failed("a write takes longer than \(patience)") }

    /// Returns once the store's executor has just run, for the watchdog.
    ///
    /// An executor at work inside the database counts as well: there a slow or full disk may hold it up. Returns early when
    /// its task is cancelled.
    package func heartbeat() async {
        guard let nextRun = executorHeartbeat.nextRun() else { return }
        // A write that stands before this one in the queue counts as well: it tells the gauge before it enters the database.
        pool.asyncWriteWithoutTransaction { [executorHeartbeat] _ in executorHeartbeat.ran() }
        for await _ in nextRun {}
    }
}

/// Turns what SQLite says into an error of ours.
///
/// Arguments of statements stay out of it.
enum StoreFailure {
    /// The error for our side.
    ///
    /// - Parameters:
    ///   - error: what was thrown.
    ///   - purpose: what was being done, for the log.
    ///   - store: how to call the store in front of the caller.
    /// - Returns: the error itself if it is ours already.
    static func serviceError(_ error: any Error, doing purpose: String, store: String = "The store") -> ServiceError {
        switch error {
        case let error as ServiceError: error
        case let error as DatabaseError:
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: \(reason(of: error.resultCode)).",
                cause: "\(purpose): \(cause(error))")
        case SQLError.damaged(let what):
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: \(reason(of: .SQLITE_CORRUPT)).",
                cause: "\(purpose): \(what)")
        case let error as StoreFileWatch.Moved:
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: its file is not where it was.",
                cause: "\(purpose): \(error)")
        case is CancellationError:
            ServiceError(.storeUnavailable, "The request was cancelled.", cause: "\(purpose): cancelled")
        default:
            // A description of GRDB's other errors may hold a row's values.
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: it holds what it should not.",
                cause: "\(purpose): \(type(of: error))")
        }
    }

    /// What SQLite says, for the log.
    static func cause(_ error: DatabaseError) -> String {
        "SQLite \(error.extendedResultCode): \(error.message ?? "no message")"
    }

    /// The error if it is the disk's or the file's; nil for that of one statement, or of somebody who reads for long.
    static func ofDisk(_ error: any Error) -> DatabaseError? {
        guard let error = error as? DatabaseError else { return nil }
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_READONLY, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR, .SQLITE_CANTOPEN:
            return error
        default: return nil
        }
    }

    private static func reason(of code: ResultCode) -> String {
        switch code {
        case .SQLITE_FULL: "its disk is full"
        case .SQLITE_READONLY: "it is read-only"
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: "its file is damaged or not a database"
        case .SQLITE_BUSY, .SQLITE_LOCKED: "it is busy"
        case .SQLITE_IOERR: "its disk fails"
        case .SQLITE_CANTOPEN: "its file cannot be opened"
        case .SQLITE_MISUSE: "it is closed"
        default: "SQLite refuses"
        }
    }
}

// MARK: Connections

extension Database {
    /// Has a statement keep the plan with which it was compiled, whatever values it is given.
    ///
    /// Otherwise SQLite looks whether a value lets it use an index for some rows alone, such as `WHERE environment = 'Sandbox'`, and
    /// compiles the statement anew for each next value, which costs several times what running it does. Our plans do not depend
    /// on values: those that need such an index name its condition.
    ///
    /// - Throws: `DatabaseError` where SQLite refuses.
    /// Source: https://sqlite.org/queryplanner-ng.html#qpstab
    fileprivate func compileStatementsOnce() throws {
        guard let connection = sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        let code = csqlite_db_config_switch(connection, SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
