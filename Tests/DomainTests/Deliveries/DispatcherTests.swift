import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What becomes of claimed deliveries.
@Suite(.endsHangs) struct DispatcherTests {
    @Test func `a failure that may mend is tried again with the same bytes`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.plan([.failed(.unavailable), .failed(.unavailable)], for: "1")
            let id = try await fixture.send().id
            for count in 1...2 {
                let waiting = try await fixture.delivery(id) { $0.attemptCount == count && $0.state == .queued }
                #expect(waiting.failure?.reason == .appleUnavailable)
                // Half of the bound, which doubles.
                #expect(
                    waiting.nextAttemptAt.map { $0.timeIntervalSince(fixture.now).rounded(toPlaces: 3) }
                        == 0.1 * Double(count))
                fixture.advance(by: .seconds(1))
            }
            let delivery = try await fixture.ended(id)
            #expect(
                delivery.state == .accepted
                    && delivery.attempts.map(\.failure) == [
                        "apple-unavailable", "apple-unavailable", nil,
                    ])
            #expect(Set(fixture.gateway.handOvers.map(\.message.body)) == [delivery.body])
            #expect(fixture.gateway.handOvers.count == 3)
        }
    }

    @Test func `what Apple refuses for good is tried once`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.failConsumption(.rejected)
            let delivery = try await fixture.ended(try await fixture.send().id)
            #expect(delivery.state == .refused && delivery.failure?.apple?.errorCode == 4_000_047)
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }

    @Test func `Apple's wish to wait outlasts our own backoff`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.plan(
                [
                    .failed(
                        CallFailure(
                            ServiceError(.appleRateLimited, "slow", retryAfter: .seconds(90)), isRetryable: true,
                            notBefore: .seconds(90)))
                ], for: "1")
            let id = try await fixture.send().id
            let waiting = try await fixture.delivery(id) { $0.attemptCount == 1 }
            #expect(waiting.nextAttemptAt == fixture.now.addingTimeInterval(90))
            fixture.advance(by: .seconds(89))
            fixture.advance(by: .seconds(1))
            #expect(try await fixture.ended(id).state == .accepted)
            #expect(
                fixture.gateway.handOvers.map(\.at) == [
                    DeliveryFixture.start, DeliveryFixture.start.addingTimeInterval(90),
                ])
        }
    }

    @Test func `what is not known of the purchase is found out before the first attempt`() async throws {
        let purchase = Transaction.sample(id: "1", account: "A", environment: .sandbox)
        try await DeliveryFixture.with(accounts: [[purchase]]) { fixture in
            let delivery = try await fixture.ended(try await fixture.send().id)
            #expect(delivery.state == .accepted && delivery.environment == .sandbox)
            #expect(delivery.purchase == purchase.facts)
            #expect(fixture.gateway.questions == [.transaction("1"), .consumption("1")])
            #expect(fixture.gateway.calls.allSatisfy { $0.priority == .deadlineBound && $0.caller == "billing" })
            #expect(fixture.gateway.calls.last?.environment == .sandbox)
        }
    }

    @Test func `a transaction that Apple knows nowhere is refused`() async throws {
        try await DeliveryFixture.with { fixture in
            let delivery = try await fixture.ended(try await fixture.send(.transaction("9")).id)
            #expect(delivery.state == .refused && delivery.failure?.apple?.errorCode == 4_040_010)
            #expect(delivery.attempts.map(\.errorCode) == [4_040_010] && !delivery.mayHaveReachedApple)
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }

    @Test func `a look-up that fails for now is tried again, ever less often`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.fail("1", with: ServiceError(.appleUnavailable, "down"))
            let id = try await fixture.send().id
            for count in 1...3 {
                _ = try await fixture.delivery(id) { $0.attemptCount == count && $0.state == .queued }
                if count == 3 { fixture.gateway.fail("1", with: nil) }
                fixture.advance(by: .seconds(1))
            }
            #expect(try await fixture.ended(id).state == .accepted)
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }

    @Test func `a named user whose purchase it is not ends the delivery when that is found out`() async throws {
        try await DeliveryFixture.with { fixture in
            try await fixture.link("1", to: "bob")
            let user = try UserID("alice")
            let delivery = try await fixture.ended(try await fixture.send(.user(user, transactionID: "1")).id)
            #expect(delivery.state == .cancelled && delivery.failure?.reason == .ownedByAnotherUser)
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }

    @Test func `an owner who has withdrawn is found out before anything is sent`() async throws {
        let token = "0b1c2d3e-0000-4000-8000-000000000001"
        try await DeliveryFixture.with(accounts: [[.sample(id: "1", token: token)]]) { fixture in
            _ = try await fixture.store.store.declare(
                try Link.sample(.appAccountToken, token, user: "bob"), transfer: false)
            try await fixture.record("bob", isConsented: false)
            let delivery = try await fixture.ended(try await fixture.send().id)
            #expect(delivery.state == .cancelled && delivery.failure?.reason == .consentWithdrawn)
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }

    @Test func `of one transaction one attempt at a time is made, of others as many as there is room for`() async throws
    {
        let transactions = (1...5).map { Transaction.sample(id: "\($0)") }
        let other = [Transaction.sample(id: "1", environment: .sandbox)]
        let policy = DispatchPolicy(concurrency: 3)
        try await DeliveryFixture.with(accounts: [transactions, other], policy: policy) { fixture in
            fixture.gateway.consumptionGate.close()
            var ids: [String] = []
            for environment in [AppStoreEnvironment.production, .sandbox] {
                ids.append(try await fixture.send(environment: environment).id)
            }
            await fixture.gateway.consumptionGate.hasArrivals(1)
            #expect(fixture.gateway.handOvers.count == 1)
            for number in 2...5 { ids.append(try await fixture.send(.transaction("\(number)")).id) }
            await fixture.gateway.consumptionGate.hasArrivals(3)
            await fixture.dispatcher.heartbeat()
            await fixture.dispatcher.heartbeat()
            #expect(fixture.gateway.handOvers.map(\.message.transactionID).sorted() == ["1", "2", "3"])
            fixture.gateway.consumptionGate.open()
            for id in ids { #expect(try await fixture.ended(id).state == .accepted) }
            #expect(fixture.gateway.handOvers.count == 6)
        }
    }

    @Test func `a stopped dispatcher claims nothing more, and lets what it sends come to its end`() async throws {
        try await DeliveryFixture.with(accounts: [[.sample(id: "1"), .sample(id: "2")]], isDispatching: false) {
            fixture in
            let running = Task { await fixture.dispatcher.run() }
            fixture.gateway.consumptionGate.close()
            let first = try await fixture.send().id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            // The order to stop comes when the loop asks the store for nothing: what it asked for before is brought to its end.
            fixture.store.resting.close()
            let arrivals = fixture.store.resting.arrivals
            fixture.dispatcher.kick()
            await fixture.store.resting.hasArrivals(arrivals + 1)
            running.cancel()
            let second = try await fixture.send(.transaction("2")).id
            fixture.store.resting.open()
            fixture.gateway.consumptionGate.open()
            await running.value
            #expect(try await fixture.ended(first).state == .accepted)
            #expect(try await fixture.delivery(second) { _ in true }.state == .queued)
        }
    }

    @Test func `a heartbeat shows that the loop turns, whether it waits or the store hangs`() async throws {
        try await DeliveryFixture.with { fixture in
            await fixture.dispatcher.heartbeat()
            fixture.store.claimed.close()
            _ = try await fixture.send()
            await fixture.store.claimed.hasArrivals(1)
            await fixture.dispatcher.heartbeat()
        }
    }
}

extension Double {
    fileprivate func rounded(toPlaces places: Int) -> Double {
        let factor = (0..<places).reduce(1.0) { value, _ in value * 10 }
        return (self * factor).rounded() / factor
    }
}
