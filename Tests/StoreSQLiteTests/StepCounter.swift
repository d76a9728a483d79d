import GRDB
import GRDBSQLite
import Synchronization

@testable import StoreSQL
@testable import StoreSQLite

/// Counts the steps of SQLite's machine, on the writer and on one reader; it must outlive the store's use.
final class StepCounter: Sendable {
    let count = Atomic(0)

    init(_ store: SQLiteStore) async throws {
        try await store.pool.writeWithoutTransaction { self.listen(to: $0) }
        // One read after the other: all of them use this connection.
        try await store.pool.read { self.listen(to: $0) }
    }

    private func listen(to database: Database) {
        sqlite3_progress_handler(
            database.sqliteConnection, 1,
            { context in
                guard let context else { return 0 }
                Unmanaged<StepCounter>.fromOpaque(context).takeUnretainedValue().count.add(1, ordering: .relaxed)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
