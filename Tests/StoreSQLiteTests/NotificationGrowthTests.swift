import Domain
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// What a notification costs must not depend on how many were kept before: counted in steps of SQLite's machine, not in time.
struct NotificationGrowthTests {
    /// The steps of what is done with a notification, by what is done, in a store that has kept so many.
    private func steps(withOthers count: Int) async throws -> [String: Int] {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.fill(count)
        let counter = try await StepCounter(store)
        var steps: [String: Int] = [:]
        func counted<Value>(_ name: String, _ work: () async throws -> Value) async throws -> Value {
            let before = counter.count.load(ordering: .relaxed)
            defer { steps[name] = counter.count.load(ordering: .relaxed) - before }
            return try await work()
        }
        let notification = StoredNotification.sample("new", transaction: .sample(id: "new", original: "new"))
        #expect(try await counted("record") { try await store.record(notification) })
        #expect(try await counted("find") { try await store.unprocessedNotifications(limit: 200) }.count == 1)
        _ = try await counted("process") {
            try await store.process(notification, newCaseID: "case", at: CaseModel.time(0))
        }
        await store.close()
        return steps
    }

    @Test func `a notification among many costs no more steps than one among a few`() async throws {
        let few = try await steps(withOthers: 3_000)
        let many = try await steps(withOthers: 30_000)
        #expect(few.count == 3)
        for (name, steps) in few {
            #expect(steps > 0)
            let times = Double(many[name] ?? .max) / Double(steps)
            #expect(times < 1.1, "\(name): \(steps), then \(many[name] ?? -1)")
        }
    }
}

extension SQLiteStore {
    /// Fills the store with processed notifications of the app `coins`, an open case for each, and their events.
    fileprivate func fill(_ count: Int) async throws {
        let start = CaseModel.time(0).milliseconds
        let numbers = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)"
        try await pool.write { database in
            for sql in [
                """
                INSERT INTO notification
                    (app, uuid, type, environment, source, receivedAt, processedAt, transactionId, originalTransactionId)
                \(numbers) SELECT 'coins', 'n' || n, 'CONSUMPTION_REQUEST', 'Production', 'webhook', :start, :start,
                    't' || n, 't' || n FROM numbers
                """,
                """
                INSERT INTO refundCase
                    (id, app, environment, transactionId, originalTransactionId, purchaseDate, isFamilyShared,
                     isAdvancedCommerce, state, requestedAt, openedAt, deadline)
                \(numbers) SELECT 'c' || n, 'coins', 'Production', 't' || n, 't' || n, :start, 0, 0, 'open', :start, :start,
                    :start FROM numbers
                """,
                """
                INSERT INTO knownIdentifier (app, identifier, environment)
                \(numbers) SELECT 'coins', 't' || n, 'Production' FROM numbers WHERE :start > 0
                """,
                """
                INSERT INTO event (app, kind, subject, at)
                \(numbers) SELECT 'coins', 'notification.received', 'n' || n, :start FROM numbers
                """,
            ] { try database.execute(sql: sql, arguments: ["count": count, "start": start]) }
        }
    }
}
