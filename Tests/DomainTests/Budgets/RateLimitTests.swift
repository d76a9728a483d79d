import Domain
import Testing

struct RateLimitTests {
    @Test func `a limit stated by the second is counted by the hour, and a share of it in the sandbox`() {
        #expect(RateLimit(requestsPerSecond: 50).callsPerHour == 180_000)
        #expect(RateLimit(requestsPerSecond: 50, percent: 10).callsPerHour == 18_000)
        #expect(RateLimit(requestsPerSecond: 1, percent: 10, reservedPercent: 20).reserved == 72)
    }

    @Test func `at least one call is left to interactive use`() {
        #expect(RateLimit(callsPerHour: 0).callsPerHour == 1)
        #expect(RateLimit(callsPerHour: 1, reservedPercent: 100).reserved == 0)
        #expect(RateLimit(callsPerHour: 10, reservedPercent: 100).reserved == 9)
    }

    @Test func `what is not limited is counted only`() {
        let budgets = BudgetFixture().budgets(RatePolicy(limits: [:]))
        #expect(budgets.exhaust(BudgetFixture.call(), atMost: 10_000) == 10_000)
    }

    @Test func `apps, endpoints and environments have budgets of their own`() {
        let limit = RateLimit(callsPerHour: 3)
        let limits = [BudgetFixture.endpoint: limit, "Look Up Order ID": limit]
        let policy = RatePolicy(
            limits: [.production: limits, .sandbox: limits], callers: ["coins": 1, "gems": 1])
        let budgets = BudgetFixture().budgets(policy)
        for call in [
            BudgetFixture.call(), BudgetFixture.call(app: "gems"), BudgetFixture.call(endpoint: "Look Up Order ID"),
            BudgetFixture.call(environment: .sandbox),
        ] {
            #expect(budgets.exhaust(call, atMost: 10) == 3)
        }
    }

    @Test func `many at once get no more than there is`() async {
        let budgets = BudgetFixture().budgets(BudgetFixture.policy(1000))
        let admitted = await withTaskGroup(of: Int.self) { group in
            for index in 0..<8 {
                group.addTask { budgets.exhaust(BudgetFixture.call("caller-\(index)"), atMost: 1000) }
            }
            return await group.reduce(0, +)
        }
        #expect(admitted <= 1000)
        #expect(admitted > 900)
    }
}
