import Domain
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// What a delivery costs must not depend on how many there are: counted in steps of SQLite's machine, not in time.
struct DeliveryGrowthTests {
    /// The steps of what is done with a delivery, by what is done, in a store with so many others of every kind.
    private func steps(withOthers count: Int) async throws -> [String: Int] {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.fill(queued: count, waiting: count, ended: count)
        let counter = try await StepCounter(store)
        var steps: [String: Int] = [:]
        func counted<Value>(_ name: String, _ work: () async throws -> Value) async throws -> Value {
            let before = counter.count.load(ordering: .relaxed)
            defer { steps[name] = counter.count.load(ordering: .relaxed) - before }
            return try await work()
        }
        _ = try await counted("accept") { try await store.queue(.sample("new", transaction: "new", user: "alice")) }
        _ = try await counted("count the backlog") { try await store.deliveryBacklog() }
        let first = try await counted("claim") { try await store.claim(at: 0, limit: 1) }
        #expect(first.map(\.id) == ["new"])
        _ = try await counted("ask the gate") { try await store.obstacle(to: first[0], at: CaseModel.time(0)) }
        _ = try await counted("repeat") {
            try await store.conclude("new", .retry(at: CaseModel.time(0.5), .sample), at: 0, attempts: [.sample(at: 0)])
        }
        _ = try await counted("wake") { try await store.nextDeliveryEvent(after: CaseModel.time(0)) }
        let second = try await counted("claim again") { try await store.claim(at: 0.5, limit: 1) }
        #expect(second.map(\.id) == ["new"])
        let recovered = try await counted("recover") {
            try await store.recoverDeliveries(worker: "other", at: CaseModel.time(0.5))
        }
        #expect(recovered == 1)
        let effect = try await counted("withdraw") { try await store.recordConsent(try .sample("alice", false)) }
        #expect(effect.cancelled.map(\.id) == ["new"])
        _ = try await counted("expire") { try await store.expireDeliveries(at: CaseModel.time(1), limit: 9) }
        for states in [[], [.queued], [.accepted], [.refused]] as [Set<Delivery.State>] {
            var query = DeliveryQuery(limit: 10)
            query.states = states
            _ = try await counted("list \(states)") { try await store.deliveries(app: "coins", query) }
        }
        let appEnvironments: Set = [AppEnvironment(app: "coins", environment: .production)]
        _ = try await counted("skip") { try await store.claim(at: 1, skipping: appEnvironments) }
        await store.close()
        return steps
    }

    @Test func `a delivery among a hundred thousand costs no more steps than one among a few`() async throws {
        let few = try await steps(withOthers: 6_000)
        let many = try await steps(withOthers: 60_000)
        #expect(few.count == 15)
        for (name, steps) in few {
            #expect(steps > 0)
            let times = Double(many[name] ?? .max) / Double(steps)
            #expect(times < 1.1, "\(name): \(steps), then \(many[name] ?? -1)")
        }
    }

    @Test func `a look passes over app environments to be skipped at once, however many deliveries wait in them`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.fill(queued: 4 * DueDeliveries.walkBound, waiting: 0, ended: 0)
        try await store.queue(.sample("first", environment: nil, deadline: 20))
        try await store.queue(.sample("gems", transaction: "2", environment: .production, app: "gems", deadline: 21))
        try await store.queue(.sample("last", transaction: "3", environment: .sandbox, deadline: 22))
        let claim = DeliveryClaim(
            worker: "worker", now: CaseModel.time(0), lease: .seconds(3600), limit: 10,
            skipping: [AppEnvironment(app: "coins", environment: .production)])
        let result = try await store.claimDeliveries(claim)
        #expect(result.deliveries.map(\.id) == ["first", "gems", "last"])
        #expect(result.next == nil)
    }

    @Test func `a look over many deliveries that must wait for one of their transaction stops and goes on`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try await folder.open()
        for appEnvironments in [[], [AppEnvironment(app: "gems", environment: .production)]] as [Set<AppEnvironment>] {
            try await store.fill(queued: 2 * DueDeliveries.walkBound + 10, waiting: 0, ended: 0)
            try await store.write("make them one purchase") { database in
                try database.execute(
                    sql: "UPDATE delivery SET transactionId = 'one', app = 'gems' WHERE id <= 'q00000600'")
                try database.execute(sql: "UPDATE delivery SET transactionId = 'one' WHERE app = 'coins'")
            }
            var position: DeliveryClaim.Position?
            var (looks, found) = (0, 0)
            repeat {
                let claim = DeliveryClaim(
                    worker: "worker", now: CaseModel.time(0), lease: .seconds(3600), limit: 10,
                    skipping: appEnvironments,
                    after: position)
                let result = try await store.claimDeliveries(claim)
                found += result.deliveries.count
                position = result.next
                looks += 1
            } while position != nil && looks < 10
            #expect(looks == (appEnvironments.isEmpty ? 3 : 1))
            #expect(found == (appEnvironments.isEmpty ? 2 : 1))
            try await store.write("begin anew") { try $0.execute(sql: "DELETE FROM delivery") }
        }
    }

    @Test func `what becomes due at once is made ready by and by, and nobody starves behind it`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.fill(queued: 0, waiting: 2 * DeliveryRow.promotionBound + 10, ended: 0)
        // Due last of all, in an app environment of its own.
        try await store.queue(.sample("other appEnvironment", environment: .sandbox, due: 7, deadline: 20))
        var position: DeliveryClaim.Position?
        var looks = 0
        var found: [String] = []
        repeat {
            let claim = DeliveryClaim(
                worker: "worker", now: CaseModel.time(7), lease: .seconds(3600), limit: 10,
                skipping: [AppEnvironment(app: "coins", environment: .production)], after: position)
            let result = try await store.claimDeliveries(claim)
            found += result.deliveries.map(\.id)
            position = result.next
            looks += 1
        } while position != nil && looks < 10
        #expect(looks == 3)
        #expect(found == ["other appEnvironment"])
    }
}

extension SQLiteStore {
    /// Fills the store with production deliveries of the app `coins`: queued ones that are due (deadline from hour 13 on),
    /// ones that wait until hour 6, and accepted ones.
    func fill(queued: Int, waiting: Int, ended: Int) async throws {
        let hour: Int64 = 3_600_000
        let start = Int64(CaseModel.time(0).timeIntervalSince1970 * 1000)
        try await pool.write { database in
            for (prefix, count, state) in [("a", ended, "accepted"), ("q", queued, "queued"), ("w", waiting, "queued")]
            {
                let isWaiting = prefix == "w"
                try database.execute(
                    sql: """
                        INSERT INTO delivery
                            (id, app, user, caller, transactionId, environment, version, body, createdAt, deadline, state,
                             isReady, nextAttemptAt, dueAt, endedAt)
                        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
                        SELECT printf('%s%08d', :prefix, n), 'coins', CAST('user' || n AS BLOB), 'shop', :prefix || n,
                            'Production', 'V2', zeroblob(300), :start, :deadline + n, :state, :isReady, :due, :waitUntil,
                            :endedAt
                        FROM numbers WHERE :count > 0
                        """,
                    arguments: [
                        "count": count, "prefix": prefix, "start": start, "deadline": start + 13 * hour, "state": state,
                        "isReady": state == "queued" ? !isWaiting : nil, "due": state == "queued" ? start : nil,
                        "waitUntil": isWaiting ? start + 6 * hour : nil, "endedAt": state == "queued" ? nil : start,
                    ])
            }
        }
    }
}
