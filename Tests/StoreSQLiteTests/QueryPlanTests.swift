import Domain
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import StoreSQLite

/// Listens to what SQLite is really asked, so that no query can escape.
struct QueryPlanTests {
    private final class Statements: Sendable {
        let seen = Mutex<Set<String>>([])
    }

    @Test func `no statement walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await SQLiteStore.open(at: folder.path, maximumKnownIdentifiers: 1)
        let statements = Statements()
        let listen: @Sendable (Database) -> Void = { database in
            database.trace { event in statements.seen.withLock { _ = $0.insert("\(event)") } }
        }
        try await store.pool.writeWithoutTransaction(listen)
        // One read after the other: all of them use this connection.
        try await store.pool.read(listen)
        try await useEverything(of: store)
        let asked = statements.seen.withLock { $0 }.filter { sql in
            ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) } && !sql.contains("sqlite_")
        }
        #expect(asked.count >= 13, "\(asked)")
        for sql in asked {
            let plan = try await store.pool.read { database in
                let marks = sql.count { $0 == "?" }
                return try Row.fetchAll(
                    database, sql: "EXPLAIN QUERY PLAN \(sql)",
                    arguments: StatementArguments(Array(repeating: DatabaseValue.null, count: marks))
                ).map { try $0.decode(String.self, forColumn: "detail") }
            }
            #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(sql)")
            #expect(!plan.contains { $0.contains("ORDER BY") }, "\(sql)")
        }
    }

    /// Calls every port in every way that makes a statement of its own.
    private func useEverything(of store: SQLiteStore) async throws {
        let alice = try Link.sample(.transactionId, "1", user: "alice", source: .consumption)
        let declared = try Link.sample(.transactionId, "1", user: "alice", environment: .sandbox)
        let bob = try Link.sample(.transactionId, "1", user: "bob")
        _ = try await store.learn(alice)
        _ = try await store.declare(declared, transfer: false)
        _ = try await store.declare(bob, transfer: true)
        _ = try await store.links(app: "coins", user: bob.user)
        _ = try await store.links(app: "coins", targets: [bob.target])
        _ = try await store.knownUsers(app: "coins", matching: ["bob"])
        _ = try await store.end(app: "coins", user: bob.user, target: bob.target, at: Date())
        for identifier in ["1", "2"] {
            let entry = KnownIdentifier(identifier: identifier, environment: .sandbox, appTransactionID: nil)
            try await store.remember([entry], app: "coins")
        }
        _ = try await store.known(app: "coins", identifiers: ["1", "2"])
        _ = try await store.installationKey(name: "page tokens") { [1] }
        let key = CallerKey(
            id: "ABCDEFGHIJ", caller: "shop", app: "coins", publicKey: [1], scopes: nil, createdAt: Date())
        _ = try await store.addCallerKey(key)
        _ = try await store.callerKey(id: key.id)
        _ = try await store.revokeCallerKey(id: key.id, caller: key.caller, at: Date())
        let call = BudgetedCall(
            app: "coins", endpoint: "Get Refund History", environment: .sandbox, caller: "shop", priority: .interactive)
        try await store.saveBudgetRecords([BudgetRecord(call: call, minute: 1, calls: 1)])
        _ = try await store.budgetRecords(of: 1...2)
        try await store.keepBudgetRecords(of: 1...2)
        try await store.replaceBudgetBlocks([
            BudgetBlock(app: "coins", endpoint: call.endpoint, environment: .sandbox, until: Date())
        ])
        _ = try await store.budgetBlocks(after: Date())
        #expect(await store.isUsable())
    }
}
