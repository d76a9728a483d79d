import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Domain

/// Clocks that a test moves one by one.
final class MovableClocks: Sendable {
    private struct State {
        /// The right time since `start`.
        var truth: TimeInterval = 0
        /// What the monotonic clock has missed of it.
        var missed: TimeInterval = 0
        /// How far the wall clock is ahead of the right time.
        var lead: TimeInterval
        /// When the wall clock was stopped.
        var stopped: TimeInterval?
    }

    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    let log = RecordedLog()
    var messages: [String] { log.lines.map(\.message) }
    private let origin = ContinuousClock.now
    private let state: Mutex<State>

    /// `lead`: how far the wall clock is ahead at the start.
    init(lead: TimeInterval = 0) { state = Mutex(State(lead: lead)) }

    var truth: Date { Self.start.addingTimeInterval(state.withLock(\.truth)) }
    var instant: ContinuousClock.Instant { origin + .seconds(state.withLock { $0.truth - $0.missed }) }

    var wall: Date {
        Self.start.addingTimeInterval(state.withLock { ($0.stopped ?? $0.truth) + $0.lead })
    }

    func pass(_ seconds: TimeInterval) { state.withLock { $0.truth += seconds } }
    func setWall(ahead seconds: TimeInterval) { state.withLock { $0.lead = seconds } }
    func stopWall() { state.withLock { $0.stopped = $0.truth } }

    /// The machine stands still, and neither of its clocks knows.
    func freeze(_ seconds: TimeInterval) {
        state.withLock { state in
            state.truth += seconds
            state.missed += seconds
            state.lead -= seconds
        }
    }

    var steady: SteadyClock {
        SteadyClock(wall: { self.wall }, monotonicNow: { self.instant }, logger: log.logger)
    }
}

extension SteadyClock {
    /// An answer of Apple's, whose clock is right, that was on its way for so long.
    func hearApple(_ clocks: MovableClocks, after delay: TimeInterval = 0) {
        let asked = clocks.instant
        let date = Date(timeIntervalSince1970: clocks.truth.timeIntervalSince1970.rounded(.down))
        clocks.pass(delay)
        decide(date, within: asked...clocks.instant)
    }

    /// How far it is from the right time, in seconds.
    func error(_ clocks: MovableClocks) -> TimeInterval { abs(now.timeIntervalSince(clocks.truth)) }
}

/// What time it is when clocks lie.
struct SteadyClockTests {
    @Test func `it begins in doubt with the machine's word, until Apple agrees`() {
        let clocks = MovableClocks()
        let steady = clocks.steady
        #expect(!steady.isCertain && steady.now == MovableClocks.start)
        clocks.pass(5)
        steady.hearApple(clocks)
        #expect(steady.isCertain && steady.now == clocks.truth && steady.standing.isMachineRight)
        #expect(clocks.messages == ["Apple's clock confirms the machine's"])
    }

    @Test(arguments: [46_800, -3600, -1_700_000_000, 10_000_000_000] as [TimeInterval])
    func `a clock that is wrong at the start is found out by Apple's first answer`(lead: TimeInterval) {
        let clocks = MovableClocks(lead: lead)
        let steady = clocks.steady
        steady.hearApple(clocks)
        #expect(steady.isCertain && steady.error(clocks) <= 1)
        #expect(!steady.standing.isMachineRight && abs(steady.standing.machineLead - lead) <= 1)
        clocks.pass(100_000)
        #expect(steady.isCertain && steady.error(clocks) <= 1, "by the monotonic clock")
        #expect(clocks.messages.count == 1, "told once")
    }

    @Test(arguments: [46_800, -3600, 15, -15] as [TimeInterval])
    func `a jump is doubted, and meanwhile the time goes on as before`(jump: TimeInterval) {
        let clocks = MovableClocks()
        let steady = clocks.steady
        steady.hearApple(clocks)
        clocks.setWall(ahead: jump)
        clocks.pass(60)
        #expect(!steady.isCertain && steady.error(clocks) <= 1)
        #expect(!steady.isCertain && clocks.messages.count == 2, "told once")
        clocks.setWall(ahead: 0)
        #expect(!steady.isCertain, "only Apple ends a doubt")
        clocks.setWall(ahead: jump)
        steady.hearApple(clocks)
        #expect(steady.isCertain && steady.error(clocks) <= 1 && !steady.standing.isMachineRight)
        // Somebody sets it.
        clocks.setWall(ahead: 0)
        #expect(!steady.isCertain)
        steady.hearApple(clocks)
        #expect(steady.isCertain && steady.standing.isMachineRight && steady.error(clocks) <= 1)
    }

    @Test func `a step within the tolerance is none, but many small ones add up`() {
        let clocks = MovableClocks()
        let steady = clocks.steady
        steady.hearApple(clocks)
        for step in 1...9 {
            clocks.setWall(ahead: TimeInterval(step))
            #expect(steady.isCertain, "\(step) s")
        }
        clocks.setWall(ahead: 11)
        #expect(!steady.isCertain)
    }

    @Test func `a clock that has stopped is doubted within seconds, however often somebody looks`() {
        let clocks = MovableClocks()
        let steady = clocks.steady
        steady.hearApple(clocks)
        clocks.stopWall()
        var seconds = 0.0
        while steady.isCertain, seconds < 100 {
            clocks.pass(0.1)
            seconds += 0.1
        }
        #expect(seconds < 12)
        clocks.pass(3600)
        #expect(steady.error(clocks) <= 1)
        steady.hearApple(clocks)
        #expect(steady.isCertain && steady.error(clocks) <= 1)
    }

    @Test func `a machine that sleeps and knows it is in no doubt`() {
        let clocks = MovableClocks()
        let steady = clocks.steady
        steady.hearApple(clocks)
        clocks.pass(46_800)
        #expect(steady.isCertain && steady.error(clocks) <= 1)
    }

    @Test func `a machine that stood still without knowing is put right as soon as its clock is`() {
        let clocks = MovableClocks()
        let steady = clocks.steady
        steady.hearApple(clocks)
        clocks.freeze(28_800)
        clocks.setWall(ahead: 0)
        #expect(!steady.isCertain)
        steady.hearApple(clocks)
        #expect(steady.isCertain && steady.error(clocks) <= 1 && steady.standing.isMachineRight)
    }

    @Test func `Apple is believed even where both clocks of the machine agree`() {
        let clocks = MovableClocks()
        let steady = clocks.steady
        steady.hearApple(clocks)
        clocks.freeze(28_800)
        #expect(steady.isCertain && steady.error(clocks) > 28_000, "nobody could know")
        steady.hearApple(clocks)
        #expect(steady.isCertain && steady.error(clocks) <= 1)
    }

    @Test(arguments: [0, 5, 30, 300] as [TimeInterval])
    func `an answer that was long on its way confirms a right clock`(delay: TimeInterval) {
        let clocks = MovableClocks()
        let steady = clocks.steady
        steady.hearApple(clocks, after: delay)
        #expect(steady.isCertain && steady.now == clocks.truth && steady.standing.isMachineRight)
        steady.hearApple(clocks, after: delay)
        #expect(steady.now == clocks.truth && clocks.messages.count == 1)
    }

    @Test(arguments: [-46_800, 46_800] as [TimeInterval])
    func `in doubt a receipt has Apple's date, and no deadline passes`(lead: TimeInterval) {
        let clocks = MovableClocks(lead: lead)
        let steady = clocks.steady
        let clock = ServiceClock(steady, monotonicNow: { clocks.instant })
        let signedAt = clocks.truth
        #expect(clock.receipt(signedAt: signedAt) == signedAt && clock.receipt(signedAt: nil) == clock.now())
        #expect(!clock.hasPassed(signedAt) && !clock.hasPassed(.distantPast))
        clocks.pass(60)
        steady.hearApple(clocks)
        #expect(clock.receipt(signedAt: signedAt) == clock.now())
        #expect(clock.hasPassed(signedAt) && !clock.hasPassed(clocks.truth.addingTimeInterval(60)))
    }

    @Test func `changes are signalled when a doubt begins and when it ends`() async throws {
        let clocks = MovableClocks()
        let steady = clocks.steady
        var signals = steady.changes.signals().makeAsyncIterator()
        steady.hearApple(clocks)
        await signals.next()
        clocks.setWall(ahead: 3600)
        _ = steady.now
        await signals.next()
    }

    /// Whatever happens in whatever order: after an answer of Apple's the time is right, between two it is right wherever it
    /// is called certain, and a jump of the wall clock alone never moves it.
    @Test func `every order of jumps, sleeps and answers leads to the right time`() {
        enum Step: CaseIterable { case jumpAhead, jumpBack, setRight, stop, sleep, answer, slowAnswer }
        func run(_ steps: [Step], from lead: TimeInterval) -> String? {
            let clocks = MovableClocks(lead: lead)
            let steady = clocks.steady
            for (index, step) in steps.enumerated() {
                let before = steady.now.timeIntervalSince(clocks.truth)
                switch step {
                case .jumpAhead: clocks.setWall(ahead: 46_800)
                case .jumpBack: clocks.setWall(ahead: -3600)
                case .setRight: clocks.setWall(ahead: 0)
                case .stop: clocks.stopWall()
                case .sleep: clocks.pass(1000)
                case .answer: steady.hearApple(clocks)
                case .slowAnswer: steady.hearApple(clocks, after: 20)
                }
                let place = "step \(index) of \(steps) from \(lead)"
                let after = steady.now.timeIntervalSince(clocks.truth)
                if step == .answer || step == .slowAnswer {
                    if !steady.isCertain { return "in doubt after \(place)" }
                } else if abs(after - before) > 0.001 {
                    return "moved by \(after - before) at \(place)"
                }
                if steady.isCertain, abs(after) > 32 { return "wrong by \(after) after \(place)" }
            }
            return nil
        }
        var sequences: [[Step]] = [[]]
        for _ in 0..<5 { sequences = sequences.flatMap { start in Step.allCases.map { start + [$0] } } }
        #expect(sequences.count == 16_807)
        for lead in [0, 46_800, -3600] as [TimeInterval] {
            for steps in sequences {
                if let fault = run(steps, from: lead) {
                    Issue.record("\(fault)")
                    return
                }
            }
        }
    }
}
