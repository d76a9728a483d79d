import Domain
import TestSupport
import Testing

/// The hour that slides.
struct SlidingHourTests {
    /// Times, in milliseconds, at which calls were admitted; the most in any hour.
    private func most(in times: [Int]) -> Int {
        var first = 0
        var most = 0
        for (index, time) in times.enumerated() {
            // A call exactly an hour later belongs to the next hour.
            while times[first] <= time - 3_600_000 { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `no hour, wherever it begins, holds more calls than the limit`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let fixture = BudgetFixture()
        let limit = Int.random(in: 1...200, using: &random)
        let reserved = Int.random(in: 0...50, using: &random)
        let budgets = fixture.budgets(BudgetFixture.policy(limit, reservedPercent: reserved))
        let callers = (0..<Int.random(in: 1...5, using: &random)).map { "caller-\($0)" } + [""]
        var now = 0
        var admitted: [Int] = []
        while now < 4 * 3_600_000 {
            let step = Bool.random(using: &random) ? 1 : Int.random(in: 1...60_000, using: &random)
            now += step
            fixture.advance(by: .milliseconds(step))
            let caller = callers.randomElement(using: &random) ?? ""
            let priority = CallPriority.allCases.randomElement(using: &random) ?? .interactive
            for _ in 0..<Int.random(in: 1...20, using: &random)
            where budgets.admit(BudgetFixture.call(caller, priority)) == .admitted {
                admitted.append(now)
            }
        }
        #expect(most(in: admitted) <= limit)
        #expect(admitted.count > limit)
    }

    @Test func `a call leaves the count after an hour, and at most a minute later`() {
        let fixture = BudgetFixture()
        let budgets = fixture.budgets(BudgetFixture.policy(1, callers: 1))
        for _ in 0..<200 {
            #expect(budgets.admit(BudgetFixture.call()) == .admitted)
            let wait = budgets.refusal(BudgetFixture.call())?.retryAfter ?? .zero
            #expect(wait > .seconds(3600))
            #expect(wait <= .seconds(3660))
            fixture.advance(by: wait + .milliseconds(1234))
        }
    }

    @Test func `steady use gets all but a sixtieth of the limit`() {
        let fixture = BudgetFixture()
        let budgets = fixture.budgets(BudgetFixture.policy(3600, callers: 1))
        var admitted = 0
        // Seven hours, asked a little faster than allowed; the first fills the window.
        for step in 0..<(7 * 360) {
            for _ in 0..<11 where budgets.admit(BudgetFixture.call()) == .admitted && step >= 360 { admitted += 1 }
            fixture.advance(by: .seconds(10))
        }
        #expect(admitted <= 6 * 3600)
        #expect(admitted >= 6 * 3600 * 60 / 61)
    }

    @Test func `a correction of the time of day changes nothing`() {
        let fixture = BudgetFixture()
        let budgets = fixture.budgets(BudgetFixture.policy(5, callers: 1))
        #expect(budgets.exhaust(BudgetFixture.call()) == 5)
        fixture.correctTimeOfDay(by: 7200)
        #expect(budgets.exhaust(BudgetFixture.call()) == 0)
        fixture.correctTimeOfDay(by: -14_400)
        fixture.advance(by: .seconds(3661))
        #expect(budgets.exhaust(BudgetFixture.call()) == 5)
    }
}
