import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import TestSupport
import Testing

@Suite(.endsHangs) struct SimulatorClockTests {
    private let real = TestClock()
    private let clock: SimulatorClock

    init() {
        let real = real
        clock = SimulatorClock(realTime: { real.now })
    }

    @Test func `it agrees with real time at first`() {
        #expect(clock.now == real.now && clock.scale == 1)
        real.advance(by: 5)
        #expect(clock.now == real.now)
    }

    @Test func `it can run faster, from then on only`() throws {
        real.advance(by: 10)
        try clock.setScale(60)
        real.advance(by: 10)
        #expect(clock.now == real.now + 590)
        try clock.setScale(0)
        real.advance(by: 100)
        #expect(clock.now == real.now + 490)
    }

    @Test func `it can be put forward, not back`() throws {
        try clock.advance(by: 3600)
        #expect(clock.now == real.now + 3600)
        let later = real.now + 86_400.123
        try clock.set(later)
        #expect(clock.milliseconds == real.milliseconds + 86_400_123)
        #expect(throws: ControlError.conflict("the clock cannot be put back")) { try clock.set(later - 1) }
        #expect(throws: ControlError.self) { try clock.advance(by: -1) }
        #expect(throws: ControlError.self) { try clock.advance(by: SimulatorClock.longestAdvance + 1) }
        #expect(throws: ControlError.self) { try clock.setScale(-1) }
        #expect(throws: ControlError.self) { try clock.setScale(.nan) }
        #expect(throws: ControlError.self) { try clock.setScale(SimulatorClock.largestScale + 1) }
    }

    @Test func `who sleeps wakes when the clock is put forward`() async throws {
        let due = clock.now + 3600
        let sleeper = Task { [clock] in try await clock.sleep(until: due) }
        try clock.advance(by: 1800)
        try clock.advance(by: 1800)
        try await sleeper.value
        #expect(clock.now == due)
    }

    @Test func `who sleeps wakes when the clock runs faster`() async throws {
        let clock = SimulatorClock()
        let due = clock.now + 86_400
        let sleeper = Task { try await clock.sleep(until: due) }
        try clock.setScale(SimulatorClock.largestScale)
        try await sleeper.value
        #expect(clock.now >= due)
    }

    @Test func `what has passed is not waited for, and sleep can be cancelled`() async throws {
        try await clock.sleep(until: clock.now)
        try clock.setScale(0)
        let sleeper = Task { [clock] in try await clock.sleep(until: clock.now + 1) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func `the control port sets it, and tokens are judged by real time all the same`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            let set = try await fixture.control("PUT", "/clock", ["scale": 2, "advanceSeconds": 8_640_000])
            #expect(set.status == 200)
            fixture.clock.advance(by: 10)
            let now = fixture.clock.milliseconds + 8_640_010_000
            let read = try JSONValue(parsing: try await fixture.control("GET", "/clock").body)
            #expect(read["now"]?.int64 == now && read["scale"]?.double == 2)
            let response = try await fixture.call(.getTransactionInfo(transactionId: id))
            #expect(response.status == 200)
            let later = now + 60_000
            let moved = try await fixture.control("PUT", "/clock", ["now": .number(JSONNumber(later))])
            #expect(try JSONValue(parsing: moved.body)["now"]?.int64 == later)
            #expect(fixture.state.clock.milliseconds == later)
            #expect(try await fixture.control("PUT", "/clock", ["now": .number(JSONNumber(now))]).status == 409)
            for body: JSONValue in [[:], ["scale": -1], ["scale": "fast"], ["speed": 2]] {
                #expect(try await fixture.control("PUT", "/clock", body).status == 400)
            }
            fixture.state.reset()
            #expect(fixture.state.clock.now == fixture.clock.now)
        }
    }

    @Test func `what is signed is dated by it`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.state.clock.advance(by: 86_400)
            let bought = try fixture.buyOnce()
            #expect(bought.purchaseDate == fixture.clock.milliseconds + 86_400_000)
            let response = try await fixture.call(
                .getTransactionInfo(transactionId: try #require(bought.transactionId)))
            let answer = try JSONValue(parsing: response.body)
            let payload = try fixture.verified(answer["signedTransactionInfo"]?.string)
            #expect(payload.signedDate == fixture.state.clock.milliseconds)
        }
    }
}
