import Domain
import Foundation
import TestSupport
import Testing

/// Nothing is sent too late, and nothing is given up while there is time.
@Suite(.endsHangs) struct DispatcherDeadlineTests {
    /// Lets time pass, attempt by attempt, until the delivery has ended, or its next attempt would come after a time.
    private func followToEnd(
        _ id: String, _ fixture: DeliveryFixture, or end: Date = .distantFuture
    ) async throws -> Delivery {
        var delivery = try await fixture.delivery(id) {
            $0.state != .sending && $0.attemptCount > 0 || $0.state.isFinal
        }
        while !delivery.state.isFinal, let next = delivery.nextAttemptAt, next < end {
            let count = delivery.attemptCount
            fixture.advance(by: .seconds(max(next.timeIntervalSince(fixture.now), 0)) + .milliseconds(1))
            delivery = try await fixture.delivery(id) {
                $0.attemptCount > count && $0.state != .sending || $0.state.isFinal
            }
        }
        return delivery
    }

    @Test func `what keeps failing is tried until shortly before its deadline, and then expires`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.failConsumption(.unavailable)
            let start = DeliveryFixture.start
            let id = try await fixture.send(deadline: start.addingTimeInterval(3600)).id
            let delivery = try await followToEnd(id, fixture)
            #expect(delivery.state == .expired && delivery.failure?.reason == .deadlineExceeded)
            #expect(delivery.endedAt.map { $0 >= start.addingTimeInterval(3600) } == true, "not before its deadline")
            let times = fixture.gateway.handOvers.map { $0.at.timeIntervalSince(start) }
            #expect(times.count == delivery.attemptCount && times.count > 20)
            // None with less than a second left; the last one not long before.
            #expect(times.allSatisfy { $0 <= 3599 })
            #expect(times.last.map { $0 > 3590 } == true)
        }
    }

    @Test func `an hour without Apple costs an answer nothing but the time`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.failConsumption(.unavailable)
            let hour = DeliveryFixture.start.addingTimeInterval(3600)
            let id = try await fixture.send().id
            #expect(try await followToEnd(id, fixture, or: hour).state == .queued)
            #expect(fixture.gateway.handOvers.count < 60, "Apple is not pressed meanwhile")
            fixture.gateway.failConsumption(CallFailure?.none)
            let delivery = try await followToEnd(id, fixture)
            #expect(delivery.state == .accepted && delivery.endedAt.map { $0 < hour.addingTimeInterval(3600) } == true)
        }
    }

    @Test(arguments: [Duration.seconds(60), .seconds(90_000), .seconds(Int64.max / 2)])
    func `a wait that somebody asks for ends no delivery, however long`(wait: Duration) async throws {
        try await DeliveryFixture.with { fixture in
            let slow = CallFailure(
                ServiceError(.appleRateLimited, "slow", retryAfter: wait), isRetryable: true, notBefore: wait)
            fixture.gateway.plan([.failed(slow)], for: "1")
            let id = try await fixture.send(deadline: fixture.now.addingTimeInterval(60)).id
            let delivery = try await fixture.delivery(id) { $0.attemptCount == 1 && $0.state != .sending }
            #expect(delivery.state == .queued && delivery.nextAttemptAt.map { $0 < delivery.deadline } == true)
        }
    }

    @Test func `a rest of its app environment that is meant for days ends within the hour`() async throws {
        try await DeliveryFixture.with { fixture in
            let wait = Duration.seconds(Int64.max / 2)
            let slow = CallFailure(
                ServiceError(.appleRateLimited, "slow", retryAfter: wait), isRetryable: true, notBefore: wait)
            fixture.gateway.plan([.failed(slow)], for: "1")
            let id = try await fixture.send(environment: .production).id
            _ = try await fixture.delivery(id) { $0.attemptCount == 1 && $0.state != .sending }
            fixture.advance(by: .seconds(12 * 3600 - 10))
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test func `what has too little time left is not tried at all, and ends at its deadline`() async throws {
        try await DeliveryFixture.with { fixture in
            let id = try await fixture.send(deadline: fixture.now.addingTimeInterval(0.9)).id
            _ = try await fixture.delivery(id) { $0.failure != nil && $0.state == .queued }
            fixture.advance(by: .milliseconds(900))
            let delivery = try await fixture.ended(id)
            #expect(delivery.state == .expired && delivery.attempts.isEmpty)
            #expect(fixture.gateway.questions.isEmpty)
        }
    }

    @Test func `no attempt outlasts the deadline or its own time`() async throws {
        try await DeliveryFixture.with { fixture in
            _ = try await fixture.ended(try await fixture.send().id)
            _ = try await fixture.ended(
                try await fixture.send(answer: DeliveryFixture.answer(1), deadline: fixture.now.addingTimeInterval(10))
                    .id)
            let deadlines = zip(fixture.gateway.questions, fixture.gateway.calls)
                .filter { $0.0 == .consumption("1") }.map(\.1.deadline)
            #expect(deadlines.count == 2 && deadlines[1].duration(to: deadlines[0]) == .seconds(20))
        }
    }

    @Test func `a queued delivery expires at its deadline, and whoever waits is told`() async throws {
        let policy = DispatchPolicy(concurrency: 1)
        try await DeliveryFixture.with(accounts: [[.sample(id: "1"), .sample(id: "2")]], policy: policy) { fixture in
            fixture.gateway.consumptionGate.close()
            _ = try await fixture.send()
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let waiting = Task {
                try await fixture.send(
                    .transaction("2"), deadline: fixture.now.addingTimeInterval(8), wait: .seconds(9))
            }
            try await fixture.sleepersHaveArrived(within: .seconds(9))
            fixture.advance(by: .seconds(8))
            let failure = try await fixture.failure { try await waiting.value }
            #expect(failure?.reason == .deadlineExceeded && failure?.delivery?.state == .expired)
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }

    @Test func `soonest deadline first, then the oldest`() async throws {
        let policy = DispatchPolicy(concurrency: 1)
        let transactions = (1...4).map { Transaction.sample(id: "\($0)") }
        try await DeliveryFixture.with(accounts: [transactions], policy: policy) { fixture in
            fixture.gateway.consumptionGate.close()
            _ = try await fixture.send()
            await fixture.gateway.consumptionGate.hasArrivals(1)
            _ = try await fixture.send(.transaction("2"))
            _ = try await fixture.send(.transaction("3"))
            let last = try await fixture.send(.transaction("4"), deadline: fixture.now.addingTimeInterval(60)).id
            fixture.gateway.consumptionGate.open()
            _ = try await fixture.ended(last)
            try await Wait.until("four hand-overs") { fixture.gateway.handOvers.count >= 4 }
            #expect(fixture.gateway.handOvers.map(\.message.transactionID) == ["1", "4", "2", "3"])
        }
    }

    @Test func `Apple's decision ends what is queued`() async throws {
        let purchase = Transaction.sample(id: "1", account: "A")
        try await DeliveryFixture.with(accounts: [[purchase]]) { fixture in
            _ = try await fixture.openCase(purchase)
            fixture.gateway.plan([.failed(.unavailable)], for: "1")
            let id = try await fixture.send().id
            _ = try await fixture.delivery(id) { $0.attemptCount == 1 && $0.state == .queued }
            try await fixture.notify("REFUND", purchase, signedAt: fixture.now)
            fixture.advance(by: .seconds(10))
            #expect(try await fixture.ended(id).state == .cancelled)
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }
}
