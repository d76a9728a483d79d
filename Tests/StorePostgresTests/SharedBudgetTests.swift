import Domain
import Foundation
import Postgres
import TestSupport
import Testing

@testable import StorePostgres
@testable import StoreSQL

/// Copies on one database call Apple no more often than one would.
@Suite(.needsPostgres)
struct SharedBudgetTests {
    private static let endpoint = "Get Refund History"

    /// One copy of the daemon, as far as it is about budgets.
    private struct Member {
        let store: PostgresStore
        let budgets: RateBudgets
        let checkpoint: BudgetCheckpoint

        init(_ name: String, _ store: PostgresStore, _ limit: RateLimit) {
            self.store = store
            budgets = RateBudgets(
                policy: RatePolicy(limits: [.production: [endpoint: limit]], callers: ["coins": 1]),
                clock: BudgetClock(now: { Date() }), slices: BudgetSlices(copy: name, store: store))
            checkpoint = BudgetCheckpoint(budgets: budgets, store: store, sharedStore: store)
        }

        /// Calls until it is told to wait; tells how often it may.
        func exhaust(_ priority: CallPriority = .interactive, atMost bound: Int = .max, by caller: String = "shop")
            async -> Int
        {
            var count = 0
            while count < bound {
                let call = BudgetedCall(
                    app: "coins", endpoint: endpoint, environment: .production, caller: caller, priority: priority)
                await budgets.prepare(call)
                guard budgets.admit(call) == .admitted else { return count }
                count += 1
            }
            return count
        }

        func used() -> Int {
            let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
            return budgets.report(on: app, for: "shop").endpoints.first { $0.name == endpoint }?.used ?? 0
        }
    }

    private static func members(
        _ fixture: PostgresFixture, _ limit: RateLimit, _ count: Int
    ) async throws -> [Member] {
        var members: [Member] = []
        for number in 0..<count {
            let member = Member("copy \(number)", try await fixture.open(readers: 1), limit)
            try await member.store.beat(copy: "copy \(number)", for: .seconds(3600), at: Date())
            members.append(member)
        }
        return members
    }

    @Test(arguments: [1, 7, 100, 1000])
    func `copies that call at the same time never call more than the limit, and leave next to nothing`(limit: Int)
        async throws
    {
        try await PostgresFixture.run { fixture in
            let members = try await Self.members(fixture, RateLimit(callsPerHour: limit), 3)
            let sum = await withTaskGroup(of: Int.self) { group in
                for member in members { group.addTask { await member.exhaust() } }
                return await group.reduce(0, +)
            }
            #expect(sum <= limit)
            // What one has left is in another's slice, at most one call each.
            #expect(sum >= limit - members.count, "\(sum)")
            for member in members { try await member.checkpoint.save() }
            for member in members { try await member.checkpoint.save() }
            let rows = try await members[0].store.budgetRecords(of: 0 ... .max)
            #expect(rows.reduce(0) { $0 + $1.calls } == sum)
        }
    }

    @Test func `what is kept for work with a deadline stays, whoever uses the rest`() async throws {
        try await PostgresFixture.run { fixture in
            let members = try await Self.members(fixture, RateLimit(callsPerHour: 100, reservedPercent: 20), 2)
            let interactive = await members[0].exhaust() + members[1].exhaust()
            #expect(interactive <= 80 && interactive >= 76)
            let urgent = await members[1].exhaust(.deadlineBound)
            #expect(interactive + urgent <= 100 && urgent >= 18, "\(urgent)")
        }
    }

    @Test func `a copy learns what the others have used, and what it gives back is the others'`() async throws {
        try await PostgresFixture.run { fixture in
            let members = try await Self.members(fixture, RateLimit(callsPerHour: 64), 2)
            #expect(await members[0].exhaust(atMost: 5) == 5)
            #expect(await members[1].exhaust(atMost: 1) == 1)
            try await members[0].checkpoint.save()
            try await members[1].checkpoint.save()
            #expect(members[1].used() == 6)
            try await members[0].checkpoint.save(isLast: true)
            let left = try await members[1].store.read("look") { database in
                try Int.fetchOne(database, sql: "SELECT count(*) FROM budgetSlice WHERE copy = 'copy 0'")
            }
            #expect(left == 0)
            #expect(await members[1].exhaust() + 6 <= 64)
        }
    }

    @Test func `the slice of a copy that died counts as used when its lease ended, and is the others' an hour later`()
        async throws
    {
        try await PostgresFixture.run { fixture in
            let members = try await Self.members(fixture, RateLimit(callsPerHour: 100), 2)
            #expect(await members[0].exhaust(atMost: 1) == 1)
            // It dies, and has told nobody of its call.
            try await members[1].store.write("die") { database in
                try database.execute(sql: "UPDATE budgetSlice SET heldUntil = storeTime() - 1")
            }
            let slice = try await members[1].store.read("look") {
                try Int.fetchOne($0, sql: "SELECT sum(calls) FROM budgetSlice") ?? 0
            }
            #expect(slice > 1)
            let rest = await members[1].exhaust()
            #expect(rest > 0 && rest + slice <= 100)
            // All of it has gone to somebody. (On a busy machine slices of its own may end before they are used up, too.)
            try await members[1].checkpoint.save()
            let gone = try await members[1].store.read("look") { database in
                try ["budgetRecord", "budgetSlice"].reduce(0) { sum, table in
                    try sum + (Int.fetchOne(database, sql: "SELECT coalesce(sum(calls), 0) FROM \(table)") ?? 0)
                }
            }
            #expect(gone == 99 || gone == 100, "\(gone)")
            try await members[1].store.write("an hour later") { database in
                try database.execute(sql: "UPDATE budgetRecord SET minute = minute - 61")
            }
            let later = try await Self.members(fixture, RateLimit(callsPerHour: 100), 3)[2]
            #expect(await later.exhaust(atMost: 40) == 40)
        }
    }

    @Test func `a copy that dies again and again takes little with it`() async throws {
        try await PostgresFixture.run { fixture in
            let limit = RateLimit(callsPerHour: 36_000)
            let store = try await fixture.open(readers: 1)
            for number in 0..<80 {
                #expect(await Member("life \(number)", store, limit).exhaust(atMost: 2) == 2)
                try await store.write("die") { database in
                    try database.execute(sql: "UPDATE budgetSlice SET heldUntil = storeTime() - 1")
                }
            }
            #expect(await Member("survivor", store, limit).exhaust(atMost: 2000) == 2000)
            let lost = try await store.read("look") { database in
                try Int.fetchOne(database, sql: "SELECT sum(calls) FROM budgetRecord WHERE caller <> 'shop'") ?? 0
            }
            #expect(lost <= 80 * 64)
        }
    }

    @Test func `Apple's wish to wait holds for every copy`() async throws {
        try await PostgresFixture.run { fixture in
            let members = try await Self.members(fixture, RateLimit(callsPerHour: 100), 2)
            let call = BudgetedCall(
                app: "coins", endpoint: Self.endpoint, environment: .production, caller: "shop", priority: .interactive)
            members[0].budgets.appleRefused(call, for: .seconds(600))
            try await members[0].checkpoint.save()
            await members[1].budgets.prepare(call)
            guard case .refused(let refusal) = members[1].budgets.admit(call) else {
                Issue.record("admitted")
                return
            }
            #expect(refusal.cause == .apple && refusal.retryAfter > .seconds(500))
        }
    }

    @Test func `without the store nothing is called`() async throws {
        try await PostgresFixture.run { fixture in
            let member = try await Self.members(fixture, RateLimit(callsPerHour: 100), 1)[0]
            await member.store.close()
            #expect(await member.exhaust() == 0)
        }
    }
}
