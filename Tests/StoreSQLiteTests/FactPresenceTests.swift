import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// What one statement finds of a purchase, kind by kind: what it does not name is never asked for.
struct FactPresenceTests {
    private let transaction = Transaction.sample(id: "2", original: "1", account: "a", token: "t")

    /// What there is for who knows the whole purchase, and for who knows its transaction id alone.
    private func presence(in store: SQLiteStore, app: String = "coins") async throws -> [FactPresence] {
        let facts = transaction.facts
        let subjects = [facts, nil].map {
            ConsentSubject(
                app: app, user: nil, transactionID: facts.transactionID, environment: facts.environment, purchase: $0)
        }
        return try await store.read("look") { database in
            try subjects.map { try FactPresence.of($0, in: database) }
        }
    }

    @Test func `nothing is there at first, and nothing of another app ever`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        #expect(try await presence(in: store) == [[], []])
        try await store.take(.sample("a", transaction: transaction))
        try await store.queue(.sample("1", transaction: "2", purchase: transaction.facts, at: 1))
        try await store.take(.sample("b", type: "REFUND", at: 2, transaction: transaction))
        #expect(try await presence(in: store, app: "other") == [[], []])
    }

    @Test func `a notification is pending until it is applied, then there is its case and later the outcome`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let request = StoredNotification.sample("a", transaction: transaction)
        _ = try await store.record(request)
        #expect(try await presence(in: store) == [[.pending, .notifications], [.pending, .notifications]])
        try await store.take(request)
        let known: FactPresence = [.cases, .notifications, .signedToken]
        #expect(try await presence(in: store) == [known, known])
        try await store.take(.sample("b", type: "REFUND", at: 1, transaction: transaction))
        // Outcomes are those of the purchase, whose identity is not in a transaction id.
        #expect(try await presence(in: store) == [known.union(.outcomes), known])
    }

    @Test func `what is told of the purchase by another transaction is there for who knows the purchase`() async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let other = Transaction.sample(id: "3", original: "1", account: "a")
        _ = try await store.record(.sample("a", transaction: other))
        #expect(try await presence(in: store) == [[.pending], []])
        // Accepting applies what is pending.
        try await store.queue(.sample("1", transaction: "3", purchase: other.facts, at: 1))
        #expect(try await presence(in: store) == [[.cases, .deliveries], []])
    }

    @Test func `links of the transaction are there, and its owner is found by them`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        _ = try await store.declare(.sample(.transactionId, "9", user: "alice"), transfer: false)
        #expect(try await presence(in: store) == [[], []])
        _ = try await store.declare(.sample(.transactionId, "2", user: "alice"), transfer: false)
        #expect(try await presence(in: store) == [[.links], [.links]])
        #expect(try await presence(in: store, app: "other") == [[], []])
        let subject = ConsentSubject(
            app: "coins", user: nil, transactionID: "2", environment: .production, purchase: nil)
        let owner = try await store.read("ask whose it is") { database in
            try OwnerQuery.owner(of: subject, FactPresence.of(subject, in: database), in: database)
        }
        #expect(owner == (try UserID("alice")))
    }

    @Test func `rescissions, tokens that Apple accepted, and what erased users left are there`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.recordToken("u", of: "1", app: "coins", environment: .production, at: CaseModel.time(0))
        #expect(try await presence(in: store) == [[.acceptedTokens], []])
        try await store.recordToken("u", of: "2", app: "coins", environment: .production, at: CaseModel.time(0))
        #expect(try await presence(in: store) == [[.acceptedTokens], [.acceptedTokens]])
        _ = try await store.recordConsent(.sample("bob", false))
        _ = try await store.eraseUser(app: "coins", user: UserID("bob"), at: CaseModel.time(1))
        let left: FactPresence = [.acceptedTokens, .tombstones]
        #expect(try await presence(in: store) == [left, left])
        try await store.write("a rescission") { database in
            try RescissionRow.insert(
                "somebody", app: "coins", .sandbox, signedAt: CaseModel.time(0), at: CaseModel.time(0),
                store.tombstones,
                in: database)
        }
        let all = left.union(.rescissions)
        #expect(try await presence(in: store) == [all, all])
        _ = try await store.record(
            .sample("r", type: "RESCIND_CONSENT", transaction: .sample(id: "9", account: "a")))
        // Of the purchase's Apple Account, which is in no transaction id.
        #expect(try await presence(in: store) == [all.union(.pending), all])
    }
}
