import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What notifications tell of purchases, found in the SQLite store.
struct StoredStateTests {
    @Test(arguments: StoredStateContract.cases)
    func `the SQLite store keeps the contract of stored state`(contract: StoredStateContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    @Test func `no question about stored state walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let alice = try UserID("3f2504e0-4f89-11d3-9a0c-0305e82c3301")
        for (kind, value) in [(.appTransactionId, "A"), (.transactionId, "1")] as [(LinkTarget.Kind, String)] {
            _ = try await store.declare(try .sample(kind, value, user: alice.value), transfer: false)
        }
        try await store.remember(
            [KnownIdentifier(identifier: "1", environment: .production, appTransactionID: "A")], app: "coins")
        try await store.take(.subscription("n", "SUBSCRIBED", period: "1", account: "A", token: alice.value))
        let log = try await StatementLog(store)
        let found = try await store.storedSubscriptions(app: "coins", user: alice, environment: nil)
        #expect(found.subscriptions.count == 1)
        #expect(try await store.storedTransaction(app: "coins", id: "1", environment: nil) != nil)
        try await log.expectPlansWithoutWalks(ofAtLeast: 8)
    }

    @Test func `the number of subscriptions that are looked for is bounded, and told`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        let alice = try UserID(token)
        _ = try await store.recordConsent(try .sample(token, true))
        for number in 0...StoredSubscriptions.maximumCount {
            _ = try await store.record(
                .subscription("n\(number)", "SUBSCRIBED", original: "\(number)", period: "\(number)", token: token))
        }
        let found = try await store.storedSubscriptions(app: "coins", user: alice, environment: nil)
        #expect(found.subscriptions.count == StoredSubscriptions.maximumCount && found.isCut)
    }
}
