import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// Each index costs every write of its table: none may be there that no query uses.
struct IndexTests {
    @Test func `each index is used by a statement that the store runs`() async throws {
        var used: Set<String> = []
        for use in [
            QueryPlanTests.useLinksAndCallers, DeliveryQueryPlanTests.useDeliveries, DeliveryQueryPlanTests.useConsent,
            DeliveryQueryPlanTests.listDeliveries, NotificationQueryPlanTests.useNotifications,
            NotificationQueryPlanTests.listNotifications, NotificationQueryPlanTests.listCases,
            UsageContractTests.useUsage,
            Self.useTheRest,
        ] {
            let folder = try StoreFolder()
            let store = try await SQLiteStore.open(
                at: folder.path, maximumKnownIdentifiers: 1, secrets: UnsealedSecrets())
            let log = try await StatementLog(store)
            try await use(store)
            used.formUnion(try await log.indexes())
            await store.close()
        }
        let folder = try StoreFolder()
        let store = try await folder.open()
        let unused = try await indexes(of: store).subtracting(used)
        #expect(unused.isEmpty, "\(unused.sorted())")
    }

    /// What no other test of plans calls.
    private static func useTheRest(of store: SQLiteStore) async throws {
        // So many that a look which passes over them goes app environment by app environment.
        try await store.fill(queued: 2 * DueDeliveries.walkBound, waiting: 0, ended: 0)
        try await store.claim(at: 0, skipping: [AppEnvironment(app: "coins", environment: .production)])
        try await store.take(.sample("r", type: "RESCIND_CONSENT", transaction: .sample(id: "2", account: "704")))
        _ = try await store.keep(try .draft("r1"))
        var query = ReceiptQuery()
        _ = try await store.receipts(app: "coins", query)
        query.since = CaseModel.time(0)
        _ = try await store.receipts(app: "coins", query)
        query.isFraud = true
        _ = try await store.receipts(app: "coins", query)
        _ = try await store.nextReceipt()
        _ = try await store.callbacks(app: "coins")
    }

    /// The indexes that are neither a constraint nor what a reference to another table needs when a row of that one goes.
    private func indexes(of store: SQLiteStore) async throws -> Set<String> {
        try await store.pool.read { database in
            let names = try String.fetchAll(
                database,
                sql: """
                    SELECT list.name FROM sqlite_schema AS "table", pragma_index_list("table".name) AS list
                    WHERE "table".type = 'table' AND list.origin = 'c' AND NOT list."unique"
                        AND NOT EXISTS (
                            SELECT 1 FROM pragma_foreign_key_list("table".name) AS reference, pragma_index_info(list.name) AS part
                            WHERE part.seqno = 0 AND part.name = reference."from")
                    """)
            return Set(names)
        }
    }
}
