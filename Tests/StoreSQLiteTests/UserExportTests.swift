import Domain
import Foundation
import GRDB
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What is kept of a user, found in the SQLite store.
struct UserExportTests {
    @Test(arguments: UserExportContract.cases)
    func `the SQLite store keeps the contract of exports`(contract: UserExportContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test func `nothing that an export asks walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let alice = try UserID("3f2504e0-4f89-11d3-9a0c-0305e82c3301")
        let token = LinkTarget(.appAccountToken, alice.value)
        _ = try await store.recordConsent(try .sample(alice.value, true))
        try await store.take(.sample("n", transaction: .sample(token: alice.value)))
        try await store.queue(.sample("d", caseID: "case-n", user: alice.value))
        _ = try await store.quarantine(
            .sample("q", identifiers: [token]), within: QuarantineBound(perApp: 1, inAll: 1))
        _ = try await store.keep(try .draft("r", user: alice.value))
        _ = try await store.recordUsage([try .sample("1000", 10, at: 1, user: alice.value)])
        let log = try await StatementLog(store)
        let found = try await store.inventory(app: "coins", user: alice)
        for (part, keys) in found.keys {
            #expect(try await store.records(app: "coins", user: alice, part, keys[...]).records.isEmpty == false)
        }
        try await log.expectPlansWithoutWalks(ofAtLeast: 25)
    }

    @Test func `a table with a column for users is one that exports and erasures know`() async throws {
        let folder = try StoreFolder()
        await (try await folder.open()).close()
        let named = try folder.withForeignConnection { database in
            try String.fetchSet(
                database,
                sql: """
                    SELECT "table".name || '.' || "column".name
                    FROM sqlite_schema AS "table", pragma_table_info("table".name) AS "column"
                    WHERE "table".type = 'table' AND ("column".name LIKE '%user' OR "column".name LIKE '%owner'
                        OR "column".name = 'appAccountToken' OR "column".name = 'acceptedFor')
                    """)
        }
        #expect(
            named == [
                "acceptedToken.appAccountToken", "appleAnswer.appAccountToken", "auditPseudonym.user", "consent.user",
                "delivery.acceptedFor",
                "delivery.appAccountToken", "delivery.user", "event.user", "link.user", "notification.appAccountToken",
                "notification.user", "quarantine.appAccountToken", "receipt.user", "receiptUser.user",
                "refundCase.appAccountToken", "refundCase.owner", "signedToken.appAccountToken", "usage.user",
            ], "a new one belongs into UserFootprint and its test")
    }

    @Test func `where an installation cannot open its key, the rest is found and what it cannot tell is left open`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let alice = try UserID("alice")
        _ = try await store.recordConsent(try .sample("bob", false))
        _ = try await store.eraseUser(app: "coins", user: try UserID("bob"), at: CaseModel.time(1))
        _ = try await store.declare(try .sample(.transactionId, "1", user: "alice"), transfer: false)
        await store.close()
        let locked = try await folder.open(UnsealedSecrets(masterKeyID: "another", acceptedLosses: ["one"]))
        let found = try await locked.inventory(app: "coins", user: alice)
        #expect(found.keys[.links]?.count == 1)
        #expect(found.isErasedWithdrawalKept == nil && found.rescissions == nil)
    }
}
