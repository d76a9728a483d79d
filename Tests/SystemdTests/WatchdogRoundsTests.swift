import Testing

@testable import Systemd

@Suite struct WatchdogRoundsTests {
    @Test func asksOnEverySecondTickAndIsSatisfiedByTheLastAnswer() {
        var rounds = WatchdogRounds(partCount: 2)
        #expect(rounds.tick() == .ask)
        #expect(rounds.answered(1) == nil)
        #expect(rounds.answered(0) == .allIsWell)
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == .ask)
    }

    @Test func reportsALatePartOnce() {
        var rounds = WatchdogRounds(partCount: 2)
        _ = rounds.tick()
        _ = rounds.answered(0)
        #expect(rounds.tick() == .late([1]))
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == nil)
    }

    @Test func asksEverybodyAgainBeforeItCallsALatePartRecovered() {
        var rounds = WatchdogRounds(partCount: 2)
        _ = rounds.tick()
        _ = rounds.answered(0)
        _ = rounds.tick()
        #expect(rounds.answered(1) == .ask)
        #expect(rounds.answered(1) == nil)
        #expect(rounds.answered(0) == .recovered)
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == .ask)
        #expect(rounds.answered(0) == nil)
        #expect(rounds.answered(1) == .allIsWell)
    }

    @Test func reportsAPartThatBecomesLateBesideAnother() {
        var rounds = WatchdogRounds(partCount: 2)
        _ = rounds.tick()
        _ = rounds.answered(0)
        #expect(rounds.tick() == .late([1]))
        #expect(rounds.answered(1) == .ask)
        #expect(rounds.tick() == .late([0, 1]))
    }

    @Test func withoutPartsAllIsAlwaysWell() {
        var rounds = WatchdogRounds(partCount: 0)
        #expect(rounds.tick() == .allIsWell)
        #expect(rounds.tick() == nil)
        #expect(rounds.tick() == .allIsWell)
    }
}
