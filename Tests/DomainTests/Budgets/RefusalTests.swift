import Domain
import TestSupport
import Testing

/// What a refusal says, and that it is true.
struct RefusalTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `who waits as long as told is admitted, and nobody is a moment earlier`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let fixture = BudgetFixture()
        let known = [nil, 3, 6].randomElement(using: &random) ?? nil
        let budgets = fixture.budgets(
            BudgetFixture.policy(
                Int.random(in: 5...300, using: &random), reservedPercent: 20, callers: known,
                quotas: ["caller-1": 20]))
        var refusals: [BudgetDecision.Refusal.Cause: Int] = [:]
        for _ in 0..<1500 {
            let caller = ["", "caller-1", "caller-2", "caller-3", "caller-4"].randomElement(using: &random) ?? ""
            let call = BudgetFixture.call(
                caller, Int.random(in: 0..<4, using: &random) == 0 ? .deadlineBound : .interactive)
            if let refusal = budgets.refusal(call) {
                refusals[refusal.cause, default: 0] += 1
                #expect(refusal.retryAfter > .zero)
                guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
                fixture.advance(by: refusal.retryAfter - .milliseconds(1))
                #expect(budgets.refusal(call)?.retryAfter == .milliseconds(1))
                fixture.advance(by: .milliseconds(1))
                #expect(budgets.admit(call) == .admitted)
            } else if Int.random(in: 0..<500, using: &random) == 0 {
                budgets.appleRefused(call, for: .seconds(Int.random(in: 1...5000, using: &random)))
            }
            fixture.advance(by: .milliseconds(Int.random(in: 0...5000, using: &random)))
        }
        #expect(refusals.count >= 2, "\(refusals)")
    }

    @Test func `Apple's wish to wait goes for everybody, and for nothing else`() {
        let fixture = BudgetFixture()
        let budgets = fixture.budgets(BudgetFixture.policy(100))
        budgets.appleRefused(BudgetFixture.call("shop"), for: .milliseconds(90_500))
        budgets.appleRefused(BudgetFixture.call("shop"), for: .seconds(1))
        for call in [BudgetFixture.call("support"), BudgetFixture.call("", .deadlineBound)] {
            #expect(
                budgets.admit(call)
                    == .refused(BudgetDecision.Refusal(cause: .apple, retryAfter: .milliseconds(90_500))))
        }
        #expect(budgets.admit(BudgetFixture.call(environment: .sandbox)) == .admitted)
        #expect(budgets.admit(BudgetFixture.call(app: "gems")) == .admitted)
        fixture.advance(by: .milliseconds(90_500))
        #expect(budgets.admit(BudgetFixture.call("support")) == .admitted)
    }

    @Test func `a garbled wish to wait ends after a day, and one for the past is none`() {
        let fixture = BudgetFixture()
        let budgets = fixture.budgets(BudgetFixture.policy(100))
        budgets.appleRefused(BudgetFixture.call(), for: .seconds(-5))
        #expect(budgets.admit(BudgetFixture.call()) == .admitted)
        budgets.appleRefused(BudgetFixture.call(), for: .seconds(Int64.max / 2))
        #expect(budgets.refusal(BudgetFixture.call())?.retryAfter == RateBudgets.longestBlock)
    }

    @Test func `a quota holds for all endpoints of an app together, and for each app`() {
        let fixture = BudgetFixture()
        let budgets = fixture.budgets(BudgetFixture.policy(100, callers: 2, quotas: ["shop": 5]))
        #expect(budgets.exhaust(BudgetFixture.call("shop"), atMost: 3) == 3)
        #expect(budgets.exhaust(BudgetFixture.call("shop", .deadlineBound, endpoint: "Other")) == 2)
        let refusal = budgets.refusal(BudgetFixture.call("shop"))
        #expect(refusal?.cause == .quota)
        #expect((refusal?.retryAfter ?? .zero) > .seconds(3600))
        #expect(budgets.admit(BudgetFixture.call("support")) == .admitted)
        #expect(budgets.exhaust(BudgetFixture.call("shop", app: "gems")) == 5)
        fixture.advance(by: refusal?.retryAfter ?? .zero)
        #expect(budgets.exhaust(BudgetFixture.call("shop")) == 5)
    }

    @Test func `what is refused counts towards no quota`() {
        let budgets = BudgetFixture().budgets(BudgetFixture.policy(2, callers: 1, quotas: ["shop": 3]))
        #expect(budgets.exhaust(BudgetFixture.call("shop")) == 2)
        #expect(budgets.refusal(BudgetFixture.call("shop"))?.cause == .exhausted)
        #expect(budgets.admit(BudgetFixture.call("shop", endpoint: "Other")) == .admitted)
        #expect(budgets.refusal(BudgetFixture.call("shop", endpoint: "Other"))?.cause == .quota)
    }
}
