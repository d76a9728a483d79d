import Domain
import Foundation
import TestSupport
import Testing

/// A clock that lies neither ends nor delays anything, and nothing is sent too late by it.
@Suite(.endsHangs) struct DoubtfulClockTests {
    private static let twelveHours = Duration.seconds(12 * 3600)

    /// Waits until the dispatcher has looked at the clock after this, and gone to sleep again.
    private func looked(_ fixture: DeliveryFixture) async throws {
        fixture.dispatcher.kick()
        await fixture.dispatcher.heartbeat()
        await fixture.dispatcher.heartbeat()
    }

    @Test func `before Apple has told the time nothing is sent, and then it is`() async throws {
        try await DeliveryFixture.with(machine: MachineClock()) { fixture in
            let id = try await fixture.send().id
            try await looked(fixture)
            #expect(fixture.gateway.questions.isEmpty)
            fixture.hearApple()
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test(arguments: [46_800, -3600, 100_000_000, -1_700_000_000] as [TimeInterval])
    func `a clock that jumps ends nothing, and sending goes on once Apple has answered`(jump: TimeInterval) async throws
    {
        let machine = MachineClock()
        try await DeliveryFixture.with(machine: machine) { fixture in
            fixture.hearApple()
            fixture.gateway.plan([.failed(.unavailable), .failed(.unavailable)], for: "1")
            let id = try await fixture.send().id
            _ = try await fixture.delivery(id) { $0.attemptCount == 1 && $0.state == .queued }
            machine.lead = jump
            fixture.advance(by: .seconds(30))
            try await looked(fixture)
            let waiting = try await fixture.delivery(id) { _ in true }
            #expect(waiting.state == .queued && waiting.attemptCount == 1, "neither ended nor sent")
            fixture.hearApple()
            _ = try await fixture.delivery(id) { $0.attemptCount == 2 && $0.state == .queued }
            // The clock stays wrong, and nobody cares any more.
            fixture.advance(by: .seconds(30))
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test(arguments: [46_800, -3600, 0] as [TimeInterval])
    func `what is over by the right time is not sent, whatever the machine says`(lead: TimeInterval) async throws {
        let machine = MachineClock()
        try await DeliveryFixture.with(machine: machine) { fixture in
            fixture.hearApple()
            fixture.gateway.plan([.failed(.unavailable)], for: "1")
            let id = try await fixture.send(deadline: fixture.now.addingTimeInterval(600)).id
            _ = try await fixture.delivery(id) { $0.attemptCount == 1 && $0.state == .queued }
            machine.lead = lead
            // It slept.
            fixture.advance(by: .seconds(700))
            fixture.hearApple()
            let ended = try await fixture.ended(id)
            #expect(ended.state == .expired && ended.attemptCount == 1)
        }
    }

    @Test(arguments: [46_800, -3600] as [TimeInterval])
    func `a dispatcher that starts with a wrong clock goes on as with a right one`(lead: TimeInterval) async throws {
        let machine = MachineClock()
        try await DeliveryFixture.with(isDispatching: false, machine: machine) { fixture in
            fixture.hearApple()
            let id = try await fixture.send(deadline: fixture.now.addingTimeInterval(6 * 3600)).id
            machine.lead = lead
            let dispatching = Task { await fixture.dispatcher.run() }
            try await looked(fixture)
            #expect(fixture.gateway.questions.isEmpty)
            #expect(try await fixture.delivery(id) { _ in true }.state == .queued)
            fixture.hearApple()
            #expect(try await fixture.ended(id).state == .accepted)
            dispatching.cancel()
            await dispatching.value
        }
    }

    @Test(arguments: [46_800, -46_800] as [TimeInterval])
    func `what is accepted by a wrong clock has its 12 hours, and is sent as soon as the time is known`(
        lead: TimeInterval
    ) async throws {
        try await DeliveryFixture.with(machine: MachineClock(lead: lead)) { fixture in
            fixture.gateway.failConsumption(.unavailable)
            let start = fixture.now
            let sent = try await fixture.send()
            #expect(sent.createdAt == start.addingTimeInterval(lead))
            fixture.advance(by: .seconds(60))
            try await looked(fixture)
            fixture.hearApple()
            let tried = try await fixture.delivery(sent.id) { $0.attemptCount > 0 && $0.state == .queued }
            #expect(abs(tried.createdAt.timeIntervalSince(start)) <= 1)
            #expect(tried.deadline == tried.createdAt.addingTimeInterval(RefundCase.answerWindow))
        }
    }

    @Test(arguments: [46_800, -46_800] as [TimeInterval])
    func `an end that a caller sets while the time is in doubt is judged by the right time`(
        lead: TimeInterval
    ) async throws {
        let purchases = (1...3).map { Transaction.sample(id: "\($0)", account: "A") }
        try await DeliveryFixture.with(accounts: [purchases], machine: MachineClock(lead: lead)) { fixture in
            fixture.gateway.failConsumption(.unavailable)
            let start = fixture.now
            let ends = ["1": 2.0, "2": 30, "3": -1].mapValues { start.addingTimeInterval($0 * 3600) }
            var sent: [String: String] = [:]
            for (transaction, end) in ends {
                sent[transaction] = try await fixture.send(.transaction(transaction), deadline: end).id
            }
            try await looked(fixture)
            fixture.hearApple()
            let soon = try await fixture.delivery(try #require(sent["1"])) { $0.attemptCount > 0 }
            #expect(soon.deadline == ends["1"])
            let capped = try await fixture.delivery(try #require(sent["2"])) { $0.attemptCount > 0 }
            #expect(capped.deadline == capped.createdAt.addingTimeInterval(RefundCase.answerWindow))
            let over = try await fixture.ended(try #require(sent["3"]))
            #expect(over.state == .expired && over.attemptCount == 0)
            let late = try await fixture.failure { try await fixture.send(deadline: ends["3"]) }
            #expect(late?.violations.map(\.rule) == ["future"], "as soon as the time is certain it is told at once")
        }
    }

    @Test func `an attempt is made that was put off by a time which Apple then takes back`() async throws {
        try await DeliveryFixture.with(machine: MachineClock()) { fixture in
            func hearApple(ahead seconds: TimeInterval) {
                let instant = fixture.ports.clock.monotonicNow()
                fixture.ports.clock.steady?.decide(
                    fixture.now.addingTimeInterval(seconds), within: instant...instant)
            }
            hearApple(ahead: 46_800)
            fixture.gateway.plan([.failed(.unavailable)], for: "1")
            let id = try await fixture.send().id
            fixture.dispatcher.kick()
            _ = try await fixture.delivery(id) { $0.attemptCount == 1 && $0.state == .queued }
            hearApple(ahead: 0)
            fixture.dispatcher.kick()
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test func `a doubt that begins after the claim keeps the answer back`() async throws {
        let machine = MachineClock()
        try await DeliveryFixture.with(machine: machine) { fixture in
            fixture.hearApple()
            fixture.store.objections.close()
            let id = try await fixture.send(environment: .production).id
            await fixture.store.objections.hasArrivals(1)
            machine.lead = 46_800
            fixture.store.objections.open()
            let waiting = try await fixture.delivery(id) { $0.failure != nil }
            #expect(waiting.state == .queued && fixture.gateway.handOvers.isEmpty)
            fixture.hearApple()
            fixture.advance(by: .seconds(60))
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test(arguments: [46_800, -3600] as [TimeInterval])
    func `cases do not end by a clock in doubt, and nobody is warned by one`(jump: TimeInterval) async throws {
        let machine = MachineClock()
        try await CaseMonitorFixture.with(machine: machine) { fixture in
            fixture.base.hearApple()
            let refundCase = try await fixture.base.openCase(.sample(id: "1", account: "A"))
            try await fixture.monitoring {
                machine.lead = jump
                try await fixture.pass(.seconds(20))
                #expect(try await fixture.state(of: refundCase) == .open && fixture.minutesWarned.isEmpty)
                fixture.base.hearApple()
                try await fixture.pass(hours: 7)
                #expect(try await fixture.state(of: refundCase) == .open && fixture.minutesWarned == ["299"])
                try await fixture.pass(hours: 5)
                #expect(try await fixture.state(of: refundCase) == .expired)
            }
        }
    }
}

/// A doubt does not last: Apple is asked.
@Suite(.endsHangs) struct ClockWatchTests {
    private func watching(
        _ fixture: DeliveryFixture, _ work: () async throws -> Void
    ) async throws {
        let loops = fixture.services.loops
        let watch = try #require(loops.last)
        let task = Task { await watch() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        task.cancel()
        await task.value
        try result.get()
    }

    @Test func `it asks until an answer has told the time, in both environments, and less and less often`() async throws
    {
        try await DeliveryFixture.with(isDispatching: false, machine: MachineClock()) { fixture in
            try await watching(fixture) {
                for count in [2, 4, 6] {
                    try await Wait.until("\(count) questions") { fixture.gateway.questions.count >= count }
                    try await fixture.sleepersHaveArrived(within: .seconds(60))
                    #expect(fixture.gateway.questions.count == count)
                    fixture.clock.advance(by: .seconds(60))
                }
                #expect(Set(fixture.gateway.calls.map(\.environment)) == [.production, .sandbox])
                #expect(Set(fixture.gateway.calls.map(\.app.slug)) == ["coins", "gems"])
                #expect(fixture.gateway.calls.allSatisfy { $0.caller.isEmpty && $0.priority == .deadlineBound })
            }
        }
    }

    @Test func `once the time is certain it asks no more, until the clock jumps`() async throws {
        let machine = MachineClock()
        try await DeliveryFixture.with(isDispatching: false, machine: machine) { fixture in
            fixture.hearApple()
            try await watching(fixture) {
                for _ in 0..<5 {
                    try await fixture.sleepersHaveArrived(within: .seconds(60))
                    fixture.clock.advance(by: .seconds(60))
                }
                #expect(fixture.gateway.questions.isEmpty)
                machine.lead = 3600
                #expect(!fixture.ports.clock.isCertain)
                try await Wait.until("a question") { !fixture.gateway.questions.isEmpty }
            }
        }
    }

    @Test func `whoever waits for the time is told that it is certain`() async throws {
        try await DeliveryFixture.with(machine: MachineClock()) { fixture in
            try await watching(fixture) {
                let id = try await fixture.send().id
                try await Wait.until("a question") { !fixture.gateway.questions.isEmpty }
                // Nobody kicks the dispatcher but the watch.
                let instant = fixture.ports.clock.monotonicNow()
                fixture.ports.clock.steady?.decide(fixture.now, within: instant...instant)
                #expect(try await fixture.ended(id).state == .accepted)
            }
        }
    }
}
