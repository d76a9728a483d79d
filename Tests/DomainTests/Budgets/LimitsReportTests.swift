import Domain
import Foundation
import Testing

/// What `GET …/limits` shows.
struct LimitsReportTests {
    private static let app = App(
        slug: "coins", bundleID: "com.example.coins", environments: [.production, .sandbox])
    private let fixture = BudgetFixture()

    @Test func `every limit is shown, and what was used without one`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, reservedPercent: 20))
        _ = budgets.exhaust(BudgetFixture.call("shop", endpoint: "Finish Transaction"), atMost: 3)
        let endpoints = budgets.report(on: Self.app, for: "shop").endpoints
        #expect(endpoints.map(\.name) == ["Finish Transaction", BudgetFixture.endpoint])
        #expect(endpoints.map(\.limit) == [nil, RateLimit(callsPerHour: 1000, reservedPercent: 20)])
        #expect(endpoints.map(\.used) == [3, 0])
        #expect(endpoints.map(\.remaining) == [nil, 800])
        #expect(endpoints.map(\.remainingForCaller) == [nil, 600])
    }

    @Test func `who used what, and what is left, is shown`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, reservedPercent: 20, quotas: ["shop": 50, "idle": 9]))
        _ = budgets.exhaust(BudgetFixture.call("support"), atMost: 100)
        _ = budgets.exhaust(BudgetFixture.call("shop"), atMost: 40)
        _ = budgets.exhaust(BudgetFixture.call("shop", .deadlineBound), atMost: 10)
        budgets.appleRefused(BudgetFixture.call(), for: .seconds(90))
        let report = budgets.report(on: Self.app, for: "support")
        let endpoint = report.endpoints.first
        #expect(endpoint?.used == 150)
        #expect(endpoint?.remaining == 660)
        #expect(endpoint?.blockedUntil == BudgetFixture.start.addingTimeInterval(90))
        #expect(endpoint?.callers.map(\.name) == ["shop", "support"])
        #expect(endpoint?.callers.map(\.interactive) == [40, 100])
        #expect(endpoint?.callers.map(\.deadlineBound) == [10, 0])
        #expect(report.quotas.map(\.caller) == ["shop"])
        #expect(report.quotas.map(\.used) == [50])
        #expect(report.quotas.map(\.callsPerHour) == [50])
    }

    @Test func `what is said to remain for a caller is what it gets`() {
        for others in [0, 100, 500, 790] {
            let budgets = fixture.budgets(BudgetFixture.policy(1000, reservedPercent: 20, callers: 2))
            _ = budgets.exhaust(BudgetFixture.call("support"), atMost: others)
            let told = budgets.report(on: Self.app, for: "shop").endpoints.first?.remainingForCaller
            #expect(budgets.exhaust(BudgetFixture.call("shop")) == told)
        }
    }
}
