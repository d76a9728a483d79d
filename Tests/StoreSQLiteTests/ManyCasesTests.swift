import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// A link that concerns more cases than one operation should: a token that an app gave to all its purchases.
struct ManyCasesTests {
    private static let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
    private static let count = CaseRow.maximumRefreshed + 50

    /// A store with many open cases of one token, and its owner's link.
    private func store(_ folder: StoreFolder, apps: [App]) async throws -> SQLiteStore {
        let store = try await SQLiteStore.open(at: folder.path, apps: apps, secrets: UnsealedSecrets())
        for number in 0..<Self.count {
            try await store.take(
                .sample("\(number)", transaction: .sample(id: "\(number)", token: Self.token)))
        }
        // They would teach links of the transactions, up to a bound of their own; retention has removed them.
        try await store.pool.write { try $0.execute(sql: "UPDATE notification SET appAccountToken = NULL") }
        _ = try await store.declare(try .sample(.appAccountToken, Self.token, user: "alice"), transfer: false)
        return store
    }

    private func owned(_ store: SQLiteStore) async throws -> [String] {
        try await store.pool.read {
            try String.fetchAll($0, sql: "SELECT transactionId FROM refundCase WHERE owner IS NOT NULL")
        }
    }

    private let apps = [App(slug: "coins", bundleID: "com.example.coins")]

    @Test func `some cases have their owner at once, the others in batches`() async throws {
        let folder = try StoreFolder()
        let store = try await store(folder, apps: apps)
        #expect(try await owned(store).count == CaseRow.maximumRefreshed)
        while try await store.refreshOwners(limit: 100) {}
        #expect(try await owned(store).count == Self.count)
        #expect(try await !store.refreshOwners(limit: 100), "then all is done")
    }

    @Test func `whoever decides goes by the link at once, and an erasure finds every case`() async throws {
        let folder = try StoreFolder()
        let store = try await store(folder, apps: apps)
        let known = Set(try await owned(store))
        let late = try #require((0..<Self.count).map(String.init).first { !known.contains($0) })
        let alice = try UserID("alice")
        let purchase = Transaction.sample(id: late, token: Self.token).facts
        try await store.queue(.sample("sent", caseID: "case-\(late)", transaction: late, purchase: purchase))
        #expect(try await store.recordConsent(.sample("alice", false)).cancelled.map(\.id) == ["sent"])
        let draft = try DeliveryDraft.sample("new", caseID: "case-\(late)", transaction: late, purchase: purchase)
        #expect(try await store.accept(draft).decision == .withdrawn(.withdrawn(alice)))
        #expect(try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(1)).cases == Self.count)
        let left = try await store.pool.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM refundCase WHERE appAccountToken IS NOT NULL")
        }
        #expect(left == 0)
    }

    @Test func `the owner of a moment ago withdraws without ending what is another's`() async throws {
        let folder = try StoreFolder()
        let store = try await store(folder, apps: apps)
        while try await store.refreshOwners(limit: 100) {}
        _ = try await store.declare(try .sample(.appAccountToken, Self.token, user: "bob"), transfer: true)
        let stale = try await store.pool.read {
            try String.fetchOne(
                $0, sql: "SELECT transactionId FROM refundCase WHERE owner = CAST('alice' AS BLOB) LIMIT 1")
        }
        let late = try #require(stale)
        let purchase = Transaction.sample(id: late, token: Self.token).facts
        try await store.queue(.sample("bob's", caseID: "case-\(late)", transaction: late, purchase: purchase))
        #expect(try await store.recordConsent(.sample("alice", false)).cancelled == [])
        #expect(try await store.recordConsent(.sample("bob", false)).cancelled.map(\.id) == ["bob's"])
    }

    @Test func `of an app that nobody goes on with, all are judged at once`() async throws {
        let folder = try StoreFolder()
        let store = try await store(folder, apps: [])
        #expect(try await owned(store).count == Self.count)
    }
}
