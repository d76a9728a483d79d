import Domain
import Testing

/// What is kept for work with a deadline.
struct ReserveTests {
    private let fixture = BudgetFixture()

    @Test func `interactive use leaves the reserve alone`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, reservedPercent: 20, callers: 1))
        #expect(budgets.exhaust(BudgetFixture.call("shop")) == 800)
        #expect(budgets.refusal(BudgetFixture.call("shop"))?.cause == .exhausted)
        #expect(budgets.exhaust(BudgetFixture.call("shop", .deadlineBound)) == 200)
    }

    @Test func `work with a deadline uses its reserve first, and then what others left`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, reservedPercent: 20, callers: 1))
        #expect(budgets.exhaust(BudgetFixture.call("shop", .deadlineBound), atMost: 150) == 150)
        #expect(budgets.exhaust(BudgetFixture.call("shop"), atMost: 500) == 500)
        #expect(budgets.exhaust(BudgetFixture.call("shop", .deadlineBound), atMost: 150) == 150)
        #expect(budgets.exhaust(BudgetFixture.call("shop")) == 200)
        #expect(budgets.exhaust(BudgetFixture.call("shop", .deadlineBound)) == 0)
    }

    @Test func `work that can wait leaves half of it to those who wait`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, reservedPercent: 20, callers: 1))
        #expect(budgets.exhaust(BudgetFixture.call("shop"), atMost: 100) == 100)
        let waiting = budgets.exhaust(BudgetFixture.call(BudgetedCall.ownWork, .background))
        #expect((1...300).contains(waiting))
        #expect(budgets.exhaust(BudgetFixture.call("shop"), atMost: 300) == 300)
        #expect(budgets.refusal(BudgetFixture.call(BudgetedCall.ownWork, .background)) != nil)
        #expect(budgets.exhaust(BudgetFixture.call("shop", .deadlineBound)) >= 200)
    }

    @Test func `the reserve is shared fairly too`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, reservedPercent: 20, callers: 2))
        _ = budgets.exhaust(BudgetFixture.call("shop"))
        _ = budgets.exhaust(BudgetFixture.call("support"))
        #expect(budgets.exhaust(BudgetFixture.call("shop", .deadlineBound)) == 150)
        #expect(budgets.exhaust(BudgetFixture.call("support", .deadlineBound)) == 50)
    }
}
