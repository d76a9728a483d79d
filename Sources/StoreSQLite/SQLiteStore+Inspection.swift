package import Dispatch
import GRDB

// Looks behind the ports, for tests that must know what SQLite really does.

extension SQLiteStore {
    /// A pragma's value on the connection that writes.
    package func writerPragma(_ name: String) async throws -> String? {
        try await pool.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name)") }
    }

    /// Lets the file grow no further than it is, as a full disk would; or as far as it likes again.
    package func limitPages(toCurrent isLimited: Bool) async throws {
        try await pool.writeWithoutTransaction { database in
            let count = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(isLimited ? count : 1_073_741_823)")
        }
    }

    /// How SQLite would carry out a query.
    package func plan(of query: String) async throws -> String {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(query)").map { $0["detail"] as String }
                .joined(separator: "; ")
        }
    }

    /// Keeps a write inside the database until the gate opens, as a slow disk would.
    package func occupyWriter(until gate: DispatchSemaphore) async throws {
        try await write("wait") { _ in gate.wait() }
    }
}
