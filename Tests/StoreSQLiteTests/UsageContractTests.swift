import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct UsageContractTests {
    @Test(arguments: UsageStoreContract.cases)
    func `the SQLite store keeps the contract of usage`(contract: UsageStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test func `a batch is one commit, or nothing of it is kept`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let before = store.commits.commitCount
        let batch = try (0..<1000).map { try UsageReport.sample("\($0)", 1, at: 1) }
        _ = try await store.recordUsage(batch)
        #expect(store.commits.commitCount == before + 1)
        // An environment that no caller can name breaks the last of them.
        try await store.write("break") { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER refusal BEFORE INSERT ON usage WHEN NEW.transactionId = 'last' BEGIN
                        SELECT raise(ABORT, 'refused');
                    END
                    """)
        }
        let broken = try [UsageReport.sample("first", 1, at: 1), .sample("last", 1, at: 1)]
        await #expect(throws: ServiceError.self) { _ = try await store.recordUsage(broken) }
        #expect(try await store.usage(of: .transaction("first")) == nil)
        await store.close()
        let again = try await folder.open()
        #expect(try await again.usage(of: .transaction("999")) == batch[999])
    }

    @Test func `nothing that is done with usage walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let log = try await StatementLog(store)
        try await Self.useUsage(of: store)
        try await log.expectPlansWithoutWalks(ofAtLeast: 20)
    }

    /// Calls everything about usage in every way that makes a statement of its own.
    static func useUsage(of store: SQLiteStore) async throws {
        let alice = try UserID("alice")
        let purchase = Transaction.sample(id: "2", original: "1")
        _ = try await store.declare(try .sample(.transactionId, "2", user: "alice"), transfer: false)
        for percentage in [1, 2] as [Int32] {
            _ = try await store.recordUsage([
                try .sample("9", percentage, at: 1), try .sample(product: "gems", of: "alice", percentage, at: 1500),
            ])
        }
        try await store.take(.sample("n", type: "ONE_TIME_CHARGE", transaction: purchase))
        _ = try await store.usage(of: .transaction("2"))
        _ = try await store.usage(app: "coins", user: alice, after: 0, limit: 2)
        _ = try await store.enforceRetention(RetentionPolicy(), at: Date(timeIntervalSince1970: 6000), limit: 1)
        _ = try await store.recordUsage([try .sample("2", 1, at: 1)])
        _ = try await store.eraseUser(app: "coins", user: alice, at: Date(timeIntervalSince1970: 6000))
    }
}
