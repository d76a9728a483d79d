import Domain
import Foundation
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct DeliveryQueryPlanTests {
    @Test func `no list of deliveries, in any combination of filters, walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let log = try await StatementLog(store)
        try await Self.listDeliveries(of: store)
        try await log.expectPlansWithoutWalks(ofAtLeast: 50)
    }

    /// Lists deliveries in every combination of filters.
    static func listDeliveries(of store: SQLiteStore) async throws {
        let alice = try UserID("alice")
        let states: [Set<Delivery.State>] = [[], [.queued], [.accepted], [.queued, .accepted]]
        for states in states {
            for combination in 0..<32 {
                var query = DeliveryQuery()
                query.states = states
                if combination & 1 != 0 { query.user = alice }
                if combination & 2 != 0 { query.transactionID = "1000" }
                if combination & 4 != 0 { query.caseID = "case-a" }
                if combination & 8 != 0 { query.environment = .sandbox }
                if combination & 16 != 0 { (query.before, query.since) = ("x", CaseModel.time(0)) }
                _ = try await store.deliveries(app: "coins", query)
            }
        }
    }

    @Test func `nothing that is done with deliveries and consent walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let log = try await StatementLog(store)
        try await Self.useDeliveries(of: store)
        try await Self.useConsent(of: store)
        try await log.expectPlansWithoutWalks(ofAtLeast: 50)
    }

    @Test func `the queue is walked in the order of its indexes`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let log = try await StatementLog(store)
        try await store.queue(.sample("1"))
        try await store.claim(at: 0)
        _ = try await store.nextDeliveryEvent(after: CaseModel.time(0))
        let plans = try await log.plans()
        for index in ["deliveryReady", "deliveryWaiting", "deliverySending"] {
            #expect(plans.contains { $0.contains("COVERING INDEX \(index) ") }, "\(index): \(plans)")
        }
    }

    /// Calls everything about deliveries in every way that makes a statement of its own.
    static func useDeliveries(of store: SQLiteStore) async throws {
        let key = IdempotencyKey(caller: "shop", app: "coins", route: "/", key: "k")
        let facts = Transaction.sample(id: "1", environment: .sandbox).facts
        try await store.take(.sample("a", transaction: .sample(id: "1")))
        try await store.queue(.sample("1", caseID: "case-a", transaction: "1", purchase: facts, key: key))
        try await store.queue(.sample("2", transaction: "2", due: 1, deadline: 2))
        try await store.queue(.sample("3", transaction: "3", environment: nil))
        try await store.queue(.sample("4", transaction: "4"))
        _ = try await store.delivery(for: key, at: CaseModel.time(0))
        try await store.claim(at: 0, limit: 2)
        _ = try await store.conclude("1", .retry(at: CaseModel.time(1), .sample), at: 0, attempts: [.sample(at: 0)])
        _ = try await store.conclude("3", .accepted, at: 0, environment: .sandbox, purchase: facts)
        try await store.claim(at: 1)
        _ = try await store.conclude("1", .accepted, at: 1)
        _ = try await store.cancelDelivery(app: "coins", id: "4", because: .sample, at: CaseModel.time(1))
        _ = try await store.recoverDeliveries(worker: "other", at: CaseModel.time(1))
        _ = try await store.expireDeliveries(at: CaseModel.time(2), limit: 10)
        _ = try await store.nextDeliveryEvent(after: CaseModel.time(2))
        _ = try await store.deliveryBacklog()
        try await store.write("hold") { database in
            try SendingHoldRow.insert(SendingHold(since: CaseModel.time(0), reason: "test"), into: database)
        }
        _ = try await store.sendingHold()
        _ = try await store.releaseSending(by: "operator", at: CaseModel.time(1))
    }

    /// Calls everything about consent in every way that makes a statement of its own.
    static func useConsent(of store: SQLiteStore) async throws {
        let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        let facts = Transaction.sample(id: "9", account: "704", token: token).facts
        for kind in LinkTarget.Kind.allCases {
            _ = try await store.declare(try .sample(kind, "\(kind)", user: "bob"), transfer: false)
        }
        try await store.queue(.sample("9", transaction: "9", user: "bob", purchase: facts))
        _ = try await store.recordConsent(try .sample("bob", false))
        _ = try await store.consentHistory(app: "coins", user: try UserID("bob"))
        _ = try await store.eraseUser(app: "coins", user: try UserID("bob"), at: CaseModel.time(1))
        _ = try await store.objection(to: .sample(user: "bob", purchase: facts))
        _ = try await store.recordConsent(try .sample("bob", true))
    }
}
