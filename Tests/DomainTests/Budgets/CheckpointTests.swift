import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a restart remembers.
struct CheckpointTests {
    private let fixture = BudgetFixture()
    private let store = InMemoryBudgetStore()
    private let policy = BudgetFixture.policy(1000, reservedPercent: 20, callers: 1, quotas: ["shop": 400])

    /// Budgets after a restart.
    private func restarted() async throws -> RateBudgets {
        let budgets = fixture.budgets(policy)
        try await BudgetCheckpoint(budgets: budgets, store: store).restore()
        return budgets
    }

    @Test func `what was used is still used after a restart, by the same callers and in the same minutes`() async throws
    {
        let budgets = try await restarted()
        let checkpoint = BudgetCheckpoint(budgets: budgets, store: store)
        for _ in 0..<30 {
            _ = budgets.exhaust(BudgetFixture.call("shop"), atMost: 10)
            _ = budgets.exhaust(BudgetFixture.call("", .deadlineBound), atMost: 3)
            fixture.advance(by: .seconds(60))
            try await checkpoint.save()
        }
        let before = budgets.report(on: Self.app, for: "shop")
        let after = try await restarted()
        #expect(after.report(on: Self.app, for: "shop") == before)
        #expect(before.quotas.map(\.used) == [300])
        // The calls leave the count when they would have.
        for _ in 0..<40 {
            fixture.advance(by: .seconds(60))
            #expect(after.report(on: Self.app, for: "shop") == budgets.report(on: Self.app, for: "shop"))
        }
    }

    @Test(arguments: [-46_800, 46_800] as [TimeInterval])
    func `a wish of Apple's to wait that a wrong clock read is put right with it`(lead: TimeInterval) async throws {
        let call = BudgetFixture.call()
        let before = try await restarted()
        before.appleRefused(call, for: .seconds(600))
        try await BudgetCheckpoint(budgets: before, store: store).save()
        fixture.correctTimeOfDay(by: lead)
        let isCertain = Mutex(false)
        let budgets = fixture.budgets(policy)
        let checkpoint = BudgetCheckpoint(budgets: budgets, store: store, isCertain: { isCertain.withLock(\.self) })
        try await checkpoint.restore()
        try await checkpoint.save()
        fixture.correctTimeOfDay(by: -lead)
        isCertain.withLock { $0 = true }
        try await checkpoint.save()
        #expect(budgets.refusal(call)?.retryAfter == .seconds(600))
        fixture.advance(by: .seconds(600))
        #expect(budgets.admit(call) == .admitted)
    }

    @Test func `a restart in the middle of a minute goes on with it`() async throws {
        var budgets = try await restarted()
        for _ in 0..<4 {
            let checkpoint = BudgetCheckpoint(budgets: budgets, store: store)
            #expect(budgets.exhaust(BudgetFixture.call("shop"), atMost: 50) == 50)
            try await checkpoint.save()
            fixture.advance(by: .seconds(2))
            budgets = try await restarted()
        }
        #expect(budgets.report(on: Self.app, for: "shop").endpoints.map(\.used) == [200])
    }

    @Test func `Apple's wish to wait outlasts a restart`() async throws {
        let budgets = try await restarted()
        budgets.appleRefused(BudgetFixture.call(), for: .seconds(600))
        try await BudgetCheckpoint(budgets: budgets, store: store).save()
        fixture.advance(by: .seconds(100))
        let refusal = try await restarted().refusal(BudgetFixture.call("other"))
        #expect(refusal == BudgetDecision.Refusal(cause: .apple, retryAfter: .seconds(500)))
        fixture.advance(by: .seconds(500))
        #expect(try await restarted().admit(BudgetFixture.call()) == .admitted)
    }

    @Test func `what is older than an hour is forgotten, in memory and in the store`() async throws {
        let budgets = try await restarted()
        let checkpoint = BudgetCheckpoint(budgets: budgets, store: store)
        _ = budgets.exhaust(BudgetFixture.call("shop"), atMost: 10)
        try await checkpoint.save()
        fixture.advance(by: .seconds(3661))
        let after = try await restarted()
        #expect(after.report(on: Self.app, for: "shop").endpoints.map(\.used) == [0])
        #expect(try await store.budgetRecords(of: 0 ... .max) == [])
    }

    @Test func `what the time of day makes seem ahead counts as made now`() async throws {
        let budgets = try await restarted()
        _ = budgets.exhaust(BudgetFixture.call("shop"), atMost: 10)
        try await BudgetCheckpoint(budgets: budgets, store: store).save()
        fixture.correctTimeOfDay(by: -86_400)
        for _ in 0..<2 {
            let after = try await restarted()
            #expect(after.report(on: Self.app, for: "shop").endpoints.map(\.used) == [10])
        }
        fixture.advance(by: .seconds(3661))
        #expect(try await restarted().report(on: Self.app, for: "shop").endpoints.map(\.used) == [0])
    }

    @Test func `what could not be saved is saved the next time`() async throws {
        let budgets = try await restarted()
        let checkpoint = BudgetCheckpoint(budgets: budgets, store: store)
        _ = budgets.exhaust(BudgetFixture.call("shop"), atMost: 10)
        await store.fail(with: ServiceError(.storeUnavailable, "Full."))
        await #expect(throws: ServiceError(.storeUnavailable, "")) { try await checkpoint.save() }
        fixture.advance(by: .seconds(300))
        await store.fail(with: nil)
        try await checkpoint.save()
        #expect(try await store.budgetRecords(of: 0 ... .max).map(\.calls) == [10])
    }

    @Test func `only what was counted since the last time is written`() async throws {
        let budgets = try await restarted()
        let checkpoint = BudgetCheckpoint(budgets: budgets, store: store)
        _ = budgets.exhaust(BudgetFixture.call("shop"), atMost: 10)
        try await checkpoint.save()
        fixture.advance(by: .seconds(120))
        try await checkpoint.save()
        // A store that lost everything gets back what is new, and nothing else.
        try await store.keepBudgetRecords(of: 0...0)
        fixture.advance(by: .seconds(120))
        _ = budgets.exhaust(BudgetFixture.call("shop"), atMost: 7)
        try await checkpoint.save()
        #expect(try await store.budgetRecords(of: 0 ... .max).map(\.calls) == [7])
    }

    private static let app = App(slug: "coins", bundleID: "com.example.coins", environments: [.production])
}
