import GRDB
import Synchronization
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// Listens to what SQLite is really asked, so that no query can escape.
final class StatementLog: Sendable {
    private let store: SQLiteStore
    private let seen = Mutex<Set<String>>([])

    /// Listens to a store from now on.
    init(_ store: SQLiteStore) async throws {
        self.store = store
        let listen: @Sendable (Database) -> Void = { [self] database in
            database.trace { event in self.seen.withLock { _ = $0.insert("\(event)") } }
        }
        try await store.pool.writeWithoutTransaction(listen)
        // One read after the other: all of them use this connection.
        try await store.pool.read(listen)
    }

    /// How SQLite does what was asked, by what was asked.
    private func plansByStatement() async throws -> [String: [String]] {
        let asked = seen.withLock { $0 }.filter { sql in
            ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) } && !sql.contains("sqlite_")
        }
        return try await store.pool.read { database in
            try asked.reduce(into: [:]) { plans, sql in
                let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                // What is not bound is NULL.
                plan.setUncheckedArguments(StatementArguments())
                plans[sql] = try Row.fetchAll(plan).map { try $0.decode(String.self, forColumn: "detail") }
            }
        }
    }

    /// The steps by which SQLite does what was asked.
    func plans() async throws -> [String] { try await plansByStatement().values.flatMap(\.self) }

    /// The indexes by which SQLite does what was asked.
    func indexes() async throws -> Set<String> {
        Set(try await plans().compactMap { $0.firstMatch(of: /USING (?:COVERING )?INDEX (\w+)/).map { String($0.1) } })
    }

    /// Expects that nothing that was asked walks a whole table or has to sort.
    func expectPlansWithoutWalks(ofAtLeast count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let plans = try await plansByStatement()
        #expect(plans.count >= count, "\(plans.count): \(plans.keys)", sourceLocation: sourceLocation)
        for (sql, plan) in plans {
            // A statement without a table of its own has one row.
            #expect(
                !plan.contains { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" }, "\(sql): \(plan)",
                sourceLocation: sourceLocation)
            #expect(!plan.contains { $0.contains("ORDER BY") }, "\(sql): \(plan)", sourceLocation: sourceLocation)
        }
    }
}
