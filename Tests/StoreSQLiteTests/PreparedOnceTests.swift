import Domain
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// A statement is compiled once, whatever values it is given.
///
/// SQLite looks at a value where it may decide whether an index for some rows alone helps, as `WHERE environment = 'Sandbox'` does,
/// and then compiles the statement anew for each next value, which costs more than running it.
struct PreparedOnceTests {
    /// How often SQLite has compiled a statement again since it was made.
    private static func repetitions(_ sql: String, _ values: [String], in database: Database) throws -> Int32 {
        let statement = try database.cachedStatement(sql: sql)
        for value in values {
            _ = try Row.fetchAll(statement, arguments: StatementArguments(Array(repeating: value, count: 2)))
        }
        return sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0)
    }

    @Test(arguments: [
        "SELECT * FROM usage WHERE app = ? AND environment = ?",
        "SELECT * FROM notification WHERE app = ? AND environment = ?",
        "SELECT * FROM delivery WHERE app = ? AND state = ?",
        "SELECT * FROM delivery WHERE app = ? AND environment = ?",
        "SELECT * FROM refundCase WHERE app = ? AND state = ?",
        "SELECT * FROM receipt WHERE app = ? AND environment = ?",
    ])
    func `a statement is compiled once, whatever it is asked`(sql: String) async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let values = ["Production", "Sandbox", "Production", "queued"]
        let writer = try await store.pool.writeWithoutTransaction { try Self.repetitions(sql, values, in: $0) }
        #expect(writer == 0, "the connection that writes")
        let reader = try await store.pool.read { try Self.repetitions(sql, values, in: $0) }
        #expect(reader == 0, "a connection that reads")
        await store.close()
        // What it is without.
        let plain = try DatabaseQueue(path: folder.path)
        let repeated = try await plain.read { try Self.repetitions(sql, values, in: $0) }
        #expect(repeated > 0, "this statement would be compiled once anyway")
        try plain.close()
    }
}
