import GRDB
import StoreSQL
import Synchronization

/// A read that waits for its turn.
struct PendingRead: Sendable {
    /// Runs the read; what it returns hands the value over, or tells what went wrong.
    let run: @Sendable (SQLDatabase) -> @Sendable () -> Void
    /// Tells that nothing could be read, and why.
    let fail: @Sendable (any Error) -> Void
}

/// Lets short reads that wait at the same time share one snapshot on a connection of their own, as `GroupCommit` lets writes
/// share a transaction.
///
/// For the questions of the hot paths, which find a row or none by an index: with many callers the way to a reader and back,
/// and the snapshot's two statements, cost more than such a question. Whatever may take long has the readers of the pool.
final class GroupRead: Sendable {
    /// The most reads of one snapshot.
    static let maximumSize = 256

    private struct State {
        var pending: [PendingRead] = []
        /// Whether a turn of the connection is asked for that has not begun.
        var isScheduled = false
    }

    private let connection: DatabaseQueue
    private let connections: GRDBConnections
    private let state = Mutex(State())

    /// - Parameters:
    ///   - file: the database, which has been opened for writing and migrated.
    ///   - connections: what connections are to the rules.
    ///   - configuration: as the pool's; this connection only reads.
    /// - Throws: `DatabaseError`
    init(file: String, _ connections: GRDBConnections, configuration: Configuration) throws {
        self.connections = connections
        var configuration = configuration
        configuration.readonly = true
        configuration.label = "purser.store.glance"
        connection = try DatabaseQueue(path: file, configuration: configuration)
    }

    /// Takes a read; it runs on the connection's own thread, and sees everything that was committed before.
    func submit(_ read: PendingRead) {
        let isFirst = state.withLock { state in
            state.pending.append(read)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule() }
    }

    /// Ends the connection; later reads fail.
    func close() throws { try connection.close() }

    private func schedule() {
        connection.asyncUnsafeRead { [self] result in
            let (reads, areMore) = take()
            if areMore { schedule() }
            do {
                let database = try result.get()
                for finish in try database.inCachedSnapshot({ database in
                    reads.map { $0.run(connections.connection(database)) }
                }) { finish() }
            } catch {
                for read in reads { read.fail(error) }
            }
        }
    }

    private func take() -> (reads: [PendingRead], areMore: Bool) {
        state.withLock { state in
            let reads = Array(state.pending.prefix(Self.maximumSize))
            state.pending.removeFirst(reads.count)
            state.isScheduled = !state.pending.isEmpty
            return (reads, state.isScheduled)
        }
    }
}
