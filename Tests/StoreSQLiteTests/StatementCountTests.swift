import Domain
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// How many statements the hot paths take: one more is felt by every caller.
struct StatementCountTests {
    /// The statements of one piece of work, in their order, each by its first word and its table.
    private func statements(
        of store: SQLiteStore, during work: () async throws -> Void
    ) async throws -> [String] {
        let seen = Mutex<[String]>([])
        let listen: @Sendable (Database) -> Void = { database in
            database.trace { event in
                // What a trigger does is part of its statement.
                guard !"\(event)".hasPrefix("--") else { return }
                let words = "\(event)".split { $0 == " " || $0 == "\n" }
                let table = words.firstIndex { ["FROM", "INTO", "UPDATE"].contains($0) }.map { words[$0 + 1] }
                seen.withLock { $0.append([words.first, table].compactMap(\.self).joined(separator: " ")) }
            }
        }
        try await store.pool.writeWithoutTransaction(listen)
        try await store.pool.read(listen)
        seen.withLock { $0 = [] }
        try await work()
        try await store.pool.writeWithoutTransaction { $0.trace(options: []) }
        try await store.pool.read { $0.trace(options: []) }
        return seen.withLock(\.self)
    }

    @Test func `an answer of which nothing is known is accepted by two insertions after some questions`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let draft = try DeliveryDraft.sample("1", user: "alice")
        let statements = try await statements(of: store) { try await store.queue(draft) }
        #expect(
            statements.prefix(6) == [
                "BEGIN",
                // What there is about the purchase, at once, with no link to its owner; the consent of those concerned.
                "SELECT notification", "SELECT consent",
                "INSERT delivery", "INSERT event", "COMMIT",
            ])
    }

    @Test func `an answer to an open case asks for that case, and not for what is not there`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let transaction = Transaction.sample(id: "1")
        try await store.take(.sample("a", transaction: transaction))
        let draft = try DeliveryDraft.sample("1", caseID: "case-a", transaction: "1", purchase: transaction.facts)
        let statements = try await statements(of: store) { try await store.queue(draft) }
        #expect(
            statements.prefix(8) == [
                "BEGIN", "SELECT notification", "SELECT refundCase", "SELECT caseRequest", "SELECT link",
                "INSERT delivery", "INSERT event", "COMMIT",
            ])
    }

    @Test func `a refund request is applied by what it writes and three questions`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let notification = StoredNotification.sample("a", transaction: .sample(id: "1"))
        _ = try await store.record(notification)
        let statements = try await statements(of: store) {
            _ = try await store.process(notification, newCaseID: "case-a", at: notification.receivedAt)
        }
        #expect(
            statements.prefix(12) == [
                "BEGIN",
                // Whether it was applied before; what there is about the purchase; its owner.
                "SELECT notification", "SELECT notification", "INSERT knownIdentifier", "DELETE knownIdentifier",
                "SELECT link", "INSERT refundCase", "DELETE caseRequest", "INSERT caseRequest", "INSERT event",
                "UPDATE notification", "COMMIT",
            ])
    }

    @Test func `a notification is kept by three insertions`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let notification = StoredNotification.sample("a", transaction: .sample(id: "1"))
        let statements = try await statements(of: store) { _ = try await store.record(notification) }
        #expect(
            statements.prefix(5) == [
                "BEGIN", "INSERT notification", "INSERT notificationContent", "INSERT event", "COMMIT",
            ])
    }

    @Test func `what has not expired takes no turn of the writer`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.queue(.sample("1"))
        let before = store.commits.commitCount
        #expect(try await store.expireDeliveries(at: CaseModel.time(0), limit: 10).isEmpty)
        #expect(store.commits.commitCount == before)
        #expect(try await store.expireDeliveries(at: CaseModel.time(12), limit: 10).map(\.id) == ["1"])
        #expect(store.commits.commitCount == before + 1)
    }
}
