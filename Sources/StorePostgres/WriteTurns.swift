import Domain
import Postgres
import StoreSQL
import Synchronization

/// Lets writes that wait at the same time share one transaction, and all transactions of all copies of the daemon be one after
/// the other (0050).
///
/// While a transaction is being committed the next writes gather, and then go together. A write that fails undoes itself
/// alone: the others are done again, each with a savepoint of its own.
final class WriteTurns: Sendable {
    /// The most writes of one transaction.
    private static let maximumSize = 256
    /// How often a transaction is tried that has changed nothing: its connection had ended, or it stood against another one.
    private static let maximumTries = 3

    private struct State {
        var pending: [PendingWrite] = []
        /// Whether a turn of the connection is asked for that has not begun.
        var isScheduled = false
    }

    /// Of one connection.
    private let pool: PostgresPool
    private let executorHeartbeat: ExecutorHeartbeat
    private let outage: Outage
    private let origin: StoreOrigin
    private let state = Mutex(State())

    init(
        _ pool: PostgresPool, _ origin: StoreOrigin, _ executorHeartbeat: ExecutorHeartbeat, _ outage: Outage
    ) {
        self.pool = pool
        self.origin = origin
        self.executorHeartbeat = executorHeartbeat
        self.outage = outage
    }

    /// How many writes wait for their turn.
    var pendingCount: Int { state.withLock(\.pending.count) }

    /// Takes a write; it runs on the connection's own thread.
    func submit(_ write: PendingWrite) {
        let isFirst = state.withLock { state in
            state.pending.append(write)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule() }
    }

    private func schedule() {
        pool.submit { [self] connection in
            let (writes, areMore) = take()
            // A turn of its own for the rest, so that the watchdog's beat comes between.
            if areMore { schedule() }
            carryOut(writes, connection, triesLeft: Self.maximumTries)
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

    private func carryOut(
        _ writes: [PendingWrite], _ connection: Result<PostgresConnection, PostgresError>, triesLeft: Int
    ) {
        guard !writes.isEmpty else { return }
        do {
            let database = PostgresDatabase.of(try connection.get())
            let endings = try executorHeartbeat.inside { try commit(writes, in: database) }
            outage.succeeded()
            for finish in endings { finish() }
        } catch is Undone where triesLeft > 1 {
            // On another connection, if this one has ended.
            pool.submit { [self] in carryOut(writes, $0, triesLeft: triesLeft - 1) }
        } catch {
            let error = (error as? Undone)?.cause ?? error
            if let error = error as? PostgresError, error.isOfServer { outage.failed(error.description) }
            for write in writes { write.fail(error) }
        }
    }

    /// Why a transaction has changed nothing, though trying again may help.
    private struct Undone: Error {
        let cause: any Error
    }

    /// Runs writes in one transaction.
    ///
    /// - Returns: what tells each how it ended, to be called outside of the database.
    /// - Throws: `Undone`, or why none of them was carried out, as far as is known.
    private func commit(
        _ writes: [PendingWrite], in database: PostgresDatabase
    ) throws -> [@Sendable () -> Void] {
        let endings: [@Sendable () -> Void]
        do {
            try database.takeTogether()
            endings = try runTogether(writes, in: database) ?? runApart(writes, in: database)
        } catch {
            database.rollBack()
            guard (error as? PostgresError)?.mayHelpToRepeat == true else { throw error }
            throw Undone(cause: error)
        }
        do {
            try origin.commit(database)
        } catch let error as PostgresError where error.kind == .serialization {
            database.rollBack()
            throw Undone(cause: error)
        }
        return endings
    }

    /// Begins a transaction that any failure undoes, and runs writes in it.
    ///
    /// - Returns: nil when one of several failed, so that nothing was changed and they may be run again.
    /// - Throws: what failed where there is one write alone, or the server.
    private func runTogether(
        _ writes: [PendingWrite], in database: PostgresDatabase
    ) throws -> [@Sendable () -> Void]? {
        try origin.beginTurn(database)
        do {
            return try writes.map { try $0.run(database) }
        } catch {
            if writes.count == 1 || !database.isUsable { throw error }
            database.rollBack()
            return nil
        }
    }

    /// Begins a transaction and runs writes in it, each of which is undone alone if it fails.
    private func runApart(_ writes: [PendingWrite], in database: PostgresDatabase) throws -> [@Sendable () -> Void] {
        try origin.beginTurn(database)
        return try writes.map { write in
            var succeed: (@Sendable () -> Void)?
            do {
                try database.savepoint { succeed = try write.run(database) }
            } catch {
                guard database.isUsable else { throw error }
                return { write.fail(error) }
            }
            guard let succeed else { throw SQLError.damaged("a write without a result") }
            return succeed
        }
    }
}

extension PostgresError {
    /// Whether it is the server's or the network's, and not one statement's.
    var isOfServer: Bool {
        switch kind {
        case .connection, .authentication, .unavailable, .tooManyWaiting: true
        case .serialization, .constraint, .shutDown, .value, .other: false
        }
    }

    /// Whether a transaction that it ended before its commit may go through when it is done again.
    var mayHelpToRepeat: Bool { kind == .serialization || kind == .connection }
}
