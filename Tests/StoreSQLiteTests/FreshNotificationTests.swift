import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// What was recorded a moment ago is handed over as it would be read.
struct FreshNotificationTests {
    private static let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    /// Makes what the tables hold tell that it was read.
    private func mark(_ store: SQLiteStore) async throws {
        try await store.write("mark") { try $0.execute(sql: "UPDATE notificationContent SET signed = 'read'") }
    }

    private func signed(_ store: SQLiteStore) async throws -> [String] {
        try await store.unprocessedNotifications(limit: 500).map(\.notification.signed)
    }

    @Test func `each is handed over once, and read from then on`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        for uuid in ["a", "b"] { _ = try await store.record(.sample(uuid, transaction: .sample(id: uuid))) }
        try await mark(store)
        let first = try await signed(store)
        #expect(first.count == 2 && !first.contains("read"))
        #expect(try await signed(store) == ["read", "read"])
    }

    @Test func `what is handed over is what is read`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let transactions = [
            nil, Transaction.sample(id: "1"),
            .sample(id: "2", original: "1", account: "704", token: Self.token.uppercased()),
        ]
        for (number, transaction) in transactions.enumerated() {
            _ = try await store.record(.sample("n\(number)", at: Double(number), transaction: transaction))
        }
        let (handed, read) = (
            try await store.unprocessedNotifications(limit: 10), try await store.unprocessedNotifications(limit: 10)
        )
        #expect(handed.count == transactions.count)
        for (handed, read) in zip(handed, read) { #expect("\(handed)" == "\(read)") }
    }

    @Test func `an erasure leaves nothing of what waits`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let user = try UserID(Self.token)
        _ = try await store.recordConsent(try .sample(Self.token, true))
        _ = try await store.record(.sample("a", transaction: .sample(id: "1", token: Self.token)))
        _ = try await store.eraseUser(app: "coins", user: user, at: CaseModel.time(1))
        let waiting = try await store.unprocessedNotifications(limit: 10)
        #expect(waiting.map(\.notification.transaction?.appAccountToken) == [nil])
        #expect(waiting.map(\.notification.signed) == [""])
    }

    @Test func `what an erasure overtook is not kept`() {
        let fresh = FreshNotifications()
        let notification = StoredNotification.sample("a")
        let before = fresh.erasures
        fresh.forget()
        fresh.keep(notification, recordedAfter: before)
        #expect(fresh.take(notification.key) == nil)
        fresh.keep(notification, recordedAfter: fresh.erasures)
        #expect(fresh.take(notification.key) != nil)
        #expect(fresh.take(notification.key) == nil)
    }

    @Test func `the oldest make way, and are read`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        for number in 0..<FreshNotifications.limit + 10 { _ = try await store.record(.sample("n\(number)")) }
        try await mark(store)
        let signed = try await signed(store)
        #expect(signed.count == FreshNotifications.limit + 10)
        #expect(signed.prefix(10).allSatisfy { $0 == "read" } && !signed.dropFirst(10).contains("read"))
    }
}
