import Domain
import Foundation
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

struct NotificationQueryPlanTests {
    @Test func `no list of notifications, in any combination of filters, walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let log = try await StatementLog(store)
        try await Self.listNotifications(of: store)
        try await log.expectPlansWithoutWalks(ofAtLeast: 64)
    }

    /// Lists notifications in every combination of filters.
    static func listNotifications(of store: SQLiteStore) async throws {
        let user = try UserID("alice")
        try await forEachCombination(of: 6) { chosen in
            var query = NotificationQuery()
            if chosen(0) { (query.type, query.subtype) = ("REFUND", "X") }
            if chosen(1) { query.user = user }
            if chosen(2) { query.transactionID = "1000" }
            if chosen(3) { query.environment = .sandbox }
            if chosen(4) { query.since = CaseModel.time(0) }
            if chosen(5) { query.before = 7 }
            _ = try await store.notifications(app: "coins", query)
        }
    }

    @Test func `no list of cases, in any combination of filters, walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let log = try await StatementLog(store)
        try await Self.listCases(of: store)
        try await log.expectPlansWithoutWalks(ofAtLeast: 53)
    }

    /// Lists cases in every combination of filters.
    static func listCases(of store: SQLiteStore) async throws {
        let user = try UserID("alice")
        for states in [[], [.open], [.open, .answered]] as [Set<RefundCase.State>] {
            try await forEachCombination(of: 4) { chosen in
                var query = CaseQuery()
                query.states = states
                if chosen(0) { query.owner = user }
                if chosen(1) { query.transactionID = "1000" }
                if chosen(2) { query.environment = .sandbox }
                if chosen(3) { query.after = CaseQuery.Position(deadline: CaseModel.time(0), id: "x") }
                _ = try await store.refundCases(app: "coins", query)
            }
        }
        try await forEachCombination(of: 2) { chosen in
            var query = RefundReportQuery(environment: .production)
            if chosen(0) { query.from = CaseModel.time(0) }
            if chosen(1) { query.to = CaseModel.time(1) }
            _ = try await store.refundReport(app: "coins", query)
        }
        _ = try await store.refundDecisions()
    }

    @Test func `nothing that is done with notifications, cases and events walks a whole table`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let log = try await StatementLog(store)
        try await Self.useNotifications(of: store)
        try await log.expectPlansWithoutWalks(ofAtLeast: 55)
    }

    /// Calls everything about notifications, cases and events in every way that makes a statement of its own.
    static func useNotifications(of store: SQLiteStore) async throws {
        let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        let transaction = Transaction.sample(id: "2", original: "1", account: "704", token: token)
        let link = try Link.sample(.transactionId, "2", user: "alice", source: .signedData)
        _ = try await store.learn(link)
        try await store.take(.sample("a", transaction: transaction))
        for kind in LinkTarget.Kind.allCases {
            _ = try await store.declare(try .sample(kind, "x", user: "alice"), transfer: false)
        }
        try await store.take(
            .sample("b", at: 1, transaction: transaction), .sample("d", type: "REFUND", at: 2, transaction: transaction)
        )
        for source in [NotificationSource.webhook, .history] {
            for number in 1...3 {
                for (app, bound) in [("coins", 1), ("gems", 2)] {
                    _ = try await store.quarantine(
                        .sample("\(source)\(number)", app: app, source: source, namesOurs: number > 1),
                        within: QuarantineBound(perApp: bound, inAll: 2, strangersPerApp: 1, strangersInAll: 1))
                }
            }
        }
        _ = try await store.quarantineStatus()
        for (position, _) in try await store.quarantined(after: 0, limit: 10) {
            try await store.quarantineTried([(position, "", false)], at: CaseModel.time(0))
            _ = try await store.release(position, as: .sample("released"))
        }
        _ = try await store.unprocessedNotifications(limit: 10)
        _ = try await store.notification(app: "coins", uuid: "a")
        _ = try await store.saveHistoryProgress(
            HistoryProgress(completeUntil: nil, search: nil), replacing: nil, app: "coins", environment: .sandbox)
        _ = try await store.historyProgress(app: "coins", environment: .sandbox)
        _ = try await store.latestCase(app: "coins", transactionID: "2", environment: nil)
        try await store.take(.sample("e", at: 3, transaction: transaction))
        _ = try await store.decline(app: "coins", id: "case-e", CaseModel.declined(at: 4))
        try await store.take(.sample("f", transaction: .sample(id: "3")))
        for isLatestFirst in [false, true] {
            var unanswered = CaseQuery(limit: 10)
            unanswered.environment = .production
            unanswered.isLatestFirst = isLatestFirst
            unanswered.after = isLatestFirst ? CaseQuery.Position(deadline: CaseModel.time(99), id: "") : nil
            _ = try await store.unansweredCases(app: "coins", unanswered, deadlineBefore: CaseModel.time(99))
        }
        _ = try await store.refunds(of: try UserID("alice"), app: "coins", in: .production, besides: "2")
        _ = try await store.caseBacklog()
        _ = try await store.expireCases(at: CaseModel.time(99), limit: 10)
        _ = try await store.events(app: "coins", after: 0, limit: 10)
        _ = try await store.events(after: 0, limit: 10)
        _ = try await store.eventPosition(before: CaseModel.time(2))
        _ = try await store.eventBounds()
        _ = try await store.enforceRetention(RetentionPolicy(), at: CaseModel.time(1_000_000), limit: 10)
    }

    /// Goes through every way to choose some of so many things.
    private static func forEachCombination(of count: Int, _ body: ((Int) -> Bool) async throws -> Void) async throws {
        for mask in 0..<(1 << count) { try await body { mask & (1 << $0) != 0 } }
    }
}
