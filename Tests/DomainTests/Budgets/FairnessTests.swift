import Domain
import TestSupport
import Testing

/// How callers share a limit.
struct FairnessTests {
    private let fixture = BudgetFixture()

    @Test func `the only caller that there is gets everything`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, callers: 1))
        #expect(budgets.exhaust(BudgetFixture.call("greedy")) == 1000)
        #expect(budgets.refusal(BudgetFixture.call("greedy"))?.cause == .exhausted)
    }

    @Test(arguments: [nil, 2, 10])
    func `while others may come, one gets its half, and half of the other`(callers: Int?) {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, callers: callers))
        #expect(budgets.exhaust(BudgetFixture.call("greedy")) == 750)
        #expect(budgets.refusal(BudgetFixture.call("greedy"))?.cause == .unfair)
    }

    @Test func `each who comes later finds something at once, however greedy those before were`() {
        let budgets = fixture.budgets(BudgetFixture.policy(14_400))
        let admitted = (0..<6).map { budgets.exhaust(BudgetFixture.call("caller-\($0)")) }
        #expect(admitted[..<4] == [10_800, 2700, 675, 169])
        #expect(admitted.allSatisfy { $0 > 0 })
        #expect(admitted.reduce(0, +) <= 14_400)
    }

    @Test func `the last of all callers may take what is left`() {
        let budgets = fixture.budgets(BudgetFixture.policy(1000, callers: 2))
        #expect(budgets.exhaust(BudgetFixture.call("greedy")) == 750)
        #expect(budgets.exhaust(BudgetFixture.call("late")) == 250)
        #expect(budgets.refusal(BudgetFixture.call("late"))?.cause == .exhausted)
    }

    @Test func `who has not called for an hour finds room whenever there is any`() {
        for limit in 1...50 {
            let budgets = fixture.budgets(BudgetFixture.policy(limit))
            var used = 0
            for index in 0..<limit {
                let admitted = budgets.exhaust(BudgetFixture.call("caller-\(index)"))
                #expect((admitted > 0) == (used < limit), "limit \(limit), caller \(index)")
                used += admitted
            }
            #expect(used == limit)
        }
    }

    @Test func `our own work shares like any caller, and is none of those who may come`() {
        let alone = fixture.budgets(BudgetFixture.policy(1000, callers: 1))
        #expect(alone.exhaust(BudgetFixture.call("")) == 750)
        #expect(alone.exhaust(BudgetFixture.call("shop")) == 250)
        let beside = fixture.budgets(BudgetFixture.policy(1000, callers: 1))
        #expect(beside.admit(BudgetFixture.call("")) == .admitted)
        #expect(beside.exhaust(BudgetFixture.call("shop")) == 750)
    }

    /// Hours with a greedy caller that asks as fast as it can, and others that ask evenly, in random order.
    @Test(arguments: [1, 2, 3] as [UInt64], [1, 2, 5, 9])
    func `one greedy caller takes nothing from those who ask for less than their share`(seed: UInt64, others: Int) {
        var random = SeededRandom(seed: seed)
        let limit = 360
        let budgets = fixture.budgets(BudgetFixture.policy(limit))
        // What the greedy one leaves is 1 / 4 of the limit at least; a little less than that is asked for evenly.
        let perHour = limit / 4 / others * 9 / 10
        var asked = Array(repeating: 0, count: others)
        var refused = Array(repeating: 0, count: others)
        var greedy = 0
        for _ in 0..<(4 * 360) {
            let turns = [-1, -1, -1] + (0..<others).filter { _ in Int.random(in: 0..<360, using: &random) < perHour }
            for turn in turns.shuffled(using: &random) {
                let isAdmitted = budgets.admit(BudgetFixture.call("caller-\(turn)")) == .admitted
                if turn < 0 {
                    greedy += isAdmitted ? 1 : 0
                } else {
                    asked[turn] += 1
                    refused[turn] += isAdmitted ? 0 : 1
                }
            }
            fixture.advance(by: .seconds(10))
        }
        #expect(refused.allSatisfy { $0 == 0 }, "refused \(refused) of \(asked)")
        #expect(greedy >= limit)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `callers that are all greedy come to equal shares, whoever began`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let limit = 360
        let budgets = fixture.budgets(BudgetFixture.policy(limit))
        let names = ["first", "second", "third"]
        var admitted: [[Int]] = []
        for hour in 0..<12 {
            var counts = [0, 0, 0]
            for _ in 0..<180 {
                // One comes every hour; the first asks five times as often as the others.
                let present = names.indices.prefix(hour + 1)
                let turns = present.flatMap { Array(repeating: $0, count: $0 == 0 ? 20 : 4) }
                for turn in turns.shuffled(using: &random)
                where budgets.admit(BudgetFixture.call(names[turn])) == .admitted {
                    counts[turn] += 1
                }
                fixture.advance(by: .seconds(20))
            }
            admitted.append(counts)
        }
        // In the hour of its coming each gets more than half of the share that it will have in the end.
        #expect(admitted[1][1] > limit / 8)
        #expect(admitted[2][2] > limit / 16)
        for counts in admitted.suffix(4) {
            #expect(counts.allSatisfy { $0 > limit / 5 && $0 < limit * 2 / 5 }, "\(admitted)")
        }
    }
}
