import AppStoreAPI
import Testing

@testable import AppStoreSimulator

struct FaultScheduleTests {
    /// Which of so many calls are hit.
    private func hits(_ schedule: inout FaultSchedule, calls: Int) -> [Bool] {
        (0..<calls).map { _ in
            !schedule.effects(on: .getTransactionInfo, bundleID: nil, environment: .sandbox).isEmpty
        }
    }

    @Test func `the same seed gives the same faults, another seed others`() {
        func pattern(seed: UInt64) -> [Bool] {
            var schedule = FaultSchedule(seed: seed)
            _ = schedule.add(Fault(.garbage, probability: 0.5))
            return hits(&schedule, calls: 64)
        }
        #expect(pattern(seed: 7) == pattern(seed: 7))
        #expect(pattern(seed: 7) != pattern(seed: 8))
        #expect(Set(pattern(seed: 7)) == [true, false])
    }

    @Test func `reseeding begins the same faults anew`() {
        var schedule = FaultSchedule(seed: 1)
        _ = schedule.add(Fault(.garbage, probability: 0.5))
        schedule.reseed(9)
        let first = hits(&schedule, calls: 32)
        schedule.reseed(9)
        let second = hits(&schedule, calls: 32)
        #expect(first == second)
        #expect(schedule.seed == 9)
    }

    @Test func `a probability of 0 never hits, of 1 always`() {
        var schedule = FaultSchedule(seed: 1)
        _ = schedule.add(Fault(.garbage, probability: 0))
        let never = hits(&schedule, calls: 50)
        #expect(Set(never) == [false])
        _ = schedule.add(Fault(.garbage, probability: 1))
        let always = hits(&schedule, calls: 50)
        #expect(Set(always) == [true])
    }

    @Test func `skip and count frame the calls that are hit`() {
        var schedule = FaultSchedule(seed: 1)
        _ = schedule.add(Fault(.garbage, skip: 2, count: 3))
        let hit = hits(&schedule, calls: 7)
        #expect(hit == [false, false, true, true, true, false, false])
        #expect(schedule.entries.first?.hits == 3)
        #expect(schedule.entries.first?.hitsLeft == 0)
    }

    @Test func `calls that do not match use nothing up`() {
        var schedule = FaultSchedule(seed: 1)
        _ = schedule.add(Fault(.garbage, operation: .getTransactionInfo, skip: 1, count: 1))
        for _ in 0..<5 {
            let effects = schedule.effects(on: .getRefundHistory, bundleID: "b", environment: .sandbox)
            #expect(effects.isEmpty)
        }
        let hit = hits(&schedule, calls: 3)
        #expect(hit == [false, true, false])
    }

    @Test func `faults go by the id they got`() {
        var schedule = FaultSchedule(seed: 1)
        let first = schedule.add(Fault(.garbage))
        let second = schedule.add(Fault(.truncatedBody))
        let removals = [schedule.remove(first), schedule.remove(first)]
        #expect(removals == [true, false])
        #expect(schedule.entries.map(\.id) == [second])
        let effects = schedule.effects(on: .getRefundHistory, bundleID: nil, environment: .sandbox)
        #expect(effects == [.truncatedBody])
    }
}
