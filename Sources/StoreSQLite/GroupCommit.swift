import Domain
import GRDB
import StoreSQL
import Synchronization

/// Lets writes that wait at the same time share one transaction, and so one fsync.
///
/// While a transaction is being committed the next writes gather, and then go together. A write that fails undoes itself
/// alone: the others are done again, each with a savepoint of its own. But when the transaction itself fails, as on a full
/// disk, all of it fails.
final class GroupCommit: Sendable {
    /// The most writes of one transaction.
    static let maximumSize = 256

    private struct State {
        var pending: [PendingWrite] = []
        /// Whether a turn of the writer is asked for that has not begun.
        var isScheduled = false
    }

    private let pool: DatabasePool
    private let connections: GRDBConnections
    private let executorHeartbeat: ExecutorHeartbeat
    private let files: StoreFileWatch
    private let outage: Outage
    private let state = Mutex(State())
    private let commits = Atomic(0)

    /// - Parameters:
    ///   - pool: the database.
    ///   - connections: what its connections are to the rules.
    ///   - executorHeartbeat: told when the writer is at work.
    ///   - files: looked at around each transaction.
    ///   - outage: told of transactions that fail, and of those that do not.
    init(
        pool: DatabasePool, connections: GRDBConnections, executorHeartbeat: ExecutorHeartbeat, files: StoreFileWatch,
        outage: Outage
    ) {
        self.pool = pool
        self.connections = connections
        self.executorHeartbeat = executorHeartbeat
        self.files = files
        self.outage = outage
    }

    /// How many transactions were committed.
    var commitCount: Int { commits.load(ordering: .relaxed) }

    /// How many writes wait for their turn.
    var pendingCount: Int { state.withLock(\.pending.count) }

    /// Takes a write; it runs on the writer's own thread.
    func submit(_ write: PendingWrite) {
        let isFirst = state.withLock { state in
            state.pending.append(write)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule() }
    }

    private func schedule() {
        pool.asyncWriteWithoutTransaction { [self] database in
            let (writes, areMore) = take()
            // A turn of its own for the rest, so that the watchdog's beat comes between.
            if areMore { schedule() }
            for finish in executorHeartbeat.inside({ commitWatched(writes, in: database) }) { finish() }
        }
    }

    private func take() -> (writes: [PendingWrite], areMore: Bool) {
        state.withLock { state in
            let writes = Array(state.pending.prefix(Self.maximumSize))
            state.pending.removeFirst(writes.count)
            state.isScheduled = !state.pending.isEmpty
            return (writes, state.isScheduled)
        }
    }

    /// Runs writes in one transaction, and promises nothing of it when the files are not the store's any more.
    ///
    /// - Returns: as `commit`.
    private func commitWatched(_ writes: [PendingWrite], in database: Database) -> [@Sendable () -> Void] {
        do {
            try files.check()
            // Of one that is closed already GRDB would ask SQLite how much it has changed, which reads whatever is there.
            guard database.sqliteConnection != nil else { throw DatabaseError(message: "the store is closed") }
            let endings = commit(writes, in: database)
            try files.check()
            return endings
        } catch {
            outage.failed("\(error)")
            return writes.map { write in { write.fail(error) } }
        }
    }

    /// Runs writes in one transaction.
    ///
    /// - Returns: what tells each how it ended, to be called outside of the database.
    private func commit(_ writes: [PendingWrite], in database: Database) -> [@Sendable () -> Void] {
        do {
            var changesBefore = database.totalChangesCount
            // Mostly none fails, and a savepoint copies every page that its write changes.
            if let endings = try commitWithoutSavepoints(writes, in: database) {
                committed(changes: database.totalChangesCount - changesBefore, nil)
                return endings
            }
            var endings: [@Sendable () -> Void] = []
            var diskFailure: DatabaseError?
            changesBefore = database.totalChangesCount
            try database.inCachedTransaction {
                for write in writes { endings.append(try run(write, in: database, &diskFailure)) }
            }
            committed(changes: database.totalChangesCount - changesBefore, diskFailure)
            return endings
        } catch {
            if let failure = StoreFailure.ofDisk(error) { outage.failed(StoreFailure.cause(failure)) }
            return writes.map { write in { write.fail(error) } }
        }
    }

    /// Runs writes in one transaction that any failure undoes.
    ///
    /// - Returns: as `commit`; nil when one of several failed, so that nothing was changed and they may be run again.
    /// - Throws: what failed where there is one write alone, or in the commit itself.
    private func commitWithoutSavepoints(
        _ writes: [PendingWrite], in database: Database
    ) throws -> [@Sendable () -> Void]? {
        var endings: [@Sendable () -> Void] = []
        do {
            try database.inCachedTransaction {
                for write in writes {
                    endings.append(try write.run(connections.connection(database)))
                    // What comes behind a transaction that has ended would be kept at once, and alone.
                    guard database.isInsideTransaction else {
                        throw DatabaseError(message: "the transaction has ended")
                    }
                }
            }
        } catch {
            if writes.count > 1, endings.count < writes.count { return nil }
            throw error
        }
        return endings
    }

    /// Takes note of a transaction; `diskFailure`: of one of its writes, which was undone alone.
    private func committed(changes: Int, _ diskFailure: DatabaseError?) {
        commits.add(1, ordering: .relaxed)
        if let diskFailure {
            outage.failed(StoreFailure.cause(diskFailure))
        } else if changes > 0 {
            // A transaction that has changed nothing has not needed the disk.
            outage.succeeded()
        }
    }

    /// Runs one write.
    ///
    /// `diskFailure`: is told if the disk is why it failed.
    ///
    /// - Returns: what tells it how it ended, if the transaction is committed.
    /// - Throws: what ended the whole transaction.
    private func run(
        _ write: PendingWrite, in database: Database, _ diskFailure: inout DatabaseError?
    ) throws -> @Sendable () -> Void {
        var succeed: (@Sendable () -> Void)?
        do {
            try database.inCachedSavepoint { succeed = try write.run(connections.connection(database)) }
        } catch {
            // SQLite takes the whole transaction back by itself when the disk is full or fails.
            guard database.isInsideTransaction else { throw error }
            diskFailure = diskFailure ?? StoreFailure.ofDisk(error)
            return { write.fail(error) }
        }
        guard let succeed else { throw DatabaseError(message: "a write without a result") }
        return succeed
    }
}

// GRDB prepares the statements of its own transactions anew each time, which costs as much as a small query.

extension Database {
    /// Runs work in a transaction of its own, as `inTransaction(.immediate)`, but with statements that are prepared once.
    func inCachedTransaction(_ work: () throws -> Void) throws {
        try cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
        do {
            try work()
            try cachedStatement(sql: "COMMIT TRANSACTION").execute()
        } catch {
            // SQLite takes the whole transaction back by itself when the disk is full or fails.
            if isInsideTransaction { try cachedStatement(sql: "ROLLBACK TRANSACTION").execute() }
            throw error
        }
    }

    /// Runs work that is undone by itself when it fails, with statements that are prepared once.
    func inCachedSavepoint(_ work: () throws -> Void) throws {
        try cachedStatement(sql: "SAVEPOINT work").execute()
        do {
            try work()
        } catch {
            if isInsideTransaction {
                try cachedStatement(sql: "ROLLBACK TRANSACTION TO SAVEPOINT work").execute()
                try cachedStatement(sql: "RELEASE SAVEPOINT work").execute()
            }
            throw error
        }
        try cachedStatement(sql: "RELEASE SAVEPOINT work").execute()
    }

    /// Runs reads that see one state of the database, as `DatabasePool.read`, but with statements that are prepared once.
    func inCachedSnapshot<Value>(_ work: (Database) throws -> Value) throws -> Value {
        try cachedStatement(sql: "BEGIN DEFERRED TRANSACTION").execute()
        defer {
            // The connection must leave the transaction; a task that was cancelled cannot commit.
            do {
                try cachedStatement(sql: "COMMIT TRANSACTION").execute()
            } catch {
                try? rollback()
            }
        }
        return try work(self)
    }
}
