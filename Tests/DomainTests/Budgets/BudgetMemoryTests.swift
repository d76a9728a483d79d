import Synchronization
import TestSupport
import Testing

@testable import Domain

/// That memory follows the calls of the last hour.
struct BudgetMemoryTests {
    private let fixture = BudgetFixture()

    private func apps(in budgets: RateBudgets) -> Int {
        budgets.shards.reduce(0) { $0 + $1.apps.withLock(\.count) }
    }

    @Test func `what nobody used for an hour is forgotten at the next checkpoint`() async throws {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, quotas: ["shop": 5]))
        let checkpoint = BudgetCheckpoint(budgets: budgets, store: InMemoryBudgetStore())
        for app in 0..<500 { _ = budgets.admit(BudgetFixture.call(app: "app-\(app)")) }
        budgets.appleRefused(BudgetFixture.call(app: "blocked"), for: .seconds(7200))
        try await checkpoint.save()
        #expect(apps(in: budgets) == 501)
        fixture.advance(by: .seconds(3661))
        try await checkpoint.save()
        #expect(apps(in: budgets) == 1)
        fixture.advance(by: .seconds(3661))
        try await checkpoint.save()
        #expect(apps(in: budgets) == 0)
    }

    @Test func `a call is remembered by its minute, not by itself`() {
        var count = CallCount()
        for minute in 0..<1000 {
            for _ in 0..<50 { count.add(1, at: minute) }
            _ = count.expire(at: minute)
        }
        #expect(count.minutes.count == CallCount.lifetime)
        #expect(count.total == 50 * CallCount.lifetime)
    }

    @Test func `callers beyond a bound are counted together`() {
        let budgets = fixture.budgets(BudgetFixture.policy(100_000))
        for caller in 0..<(SharedCount.maximumCallers + 30) {
            for _ in 0..<2 { _ = budgets.admit(BudgetFixture.call("caller-\(caller)")) }
        }
        let endpoint = budgets.report(on: App(slug: "coins", bundleID: "com.example.coins"), for: "").endpoints.first
        #expect(endpoint?.callers.count == SharedCount.maximumCallers + 1)
        #expect(endpoint?.callers.first?.name == SharedCount.others)
        #expect(endpoint?.callers.first?.interactive == 60)
        #expect(endpoint?.used == 188)
    }
}
