import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What happens when the storage fails, and when a process dies.
@Suite(.endsHangs) struct DispatcherStoreTests {
    @Test func `an acceptance that cannot be recorded is recorded as soon as it can, and not sent again`() async throws
    {
        try await DeliveryFixture.with { fixture in
            fixture.store.fail(.conclude)
            let id = try await fixture.send().id
            try await Wait.until("the end of a hand-over") { fixture.gateway.handOvers.first?.end != nil }
            fixture.store.fail(.recover)
            for _ in 1...30 {
                fixture.advance(by: .seconds(10))
                await fixture.dispatcher.heartbeat()
            }
            #expect(try await fixture.delivery(id) { _ in true }.state == .sending)
            fixture.store.heal()
            fixture.advance(by: .seconds(10))
            #expect(try await fixture.ended(id).state == .accepted)
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }

    @Test func `an acceptance that is recorded late is not taken for expired`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.store.fail(.conclude)
            let id = try await fixture.send(deadline: fixture.now.addingTimeInterval(60)).id
            try await Wait.until("an end that cannot be recorded") {
                fixture.gateway.handOvers.first?.end != nil && fixture.transfers.count == 0
            }
            fixture.store.fail(.recover, .expire)
            fixture.advance(by: .seconds(600))
            await fixture.dispatcher.heartbeat()
            fixture.store.heal()
            fixture.advance(by: .seconds(10))
            let ended = try await fixture.ended(id)
            #expect(ended.state == .accepted, "\(ended)")
        }
    }

    @Test func `storage that cannot be read is tried again`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.store.fail(.claim)
            let id = try await fixture.send().id
            for _ in 1...5 {
                fixture.advance(by: .seconds(10))
                await fixture.dispatcher.heartbeat()
            }
            #expect(fixture.gateway.handOvers.isEmpty)
            fixture.store.heal()
            // A claim that has just failed is followed by one more sleep.
            try await Wait.until("the delivery to end") {
                fixture.advance(by: .milliseconds(100))
                return try await fixture.store.store.delivery(app: DeliveryFixture.app.slug, id: id)?.state.isFinal
                    == true
            }
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test func `nothing is sent while the gate cannot be asked`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.store.fail(.objection)
            let id = try await fixture.send().id
            let waiting = try await fixture.delivery(id) { $0.failure != nil && $0.state == .queued }
            #expect(waiting.failure?.reason == .storeUnavailable && fixture.gateway.handOvers.isEmpty)
            fixture.store.heal()
            fixture.advance(by: .seconds(10))
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test func `what a dead process was sending is sent again`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let delivery = try await fixture.send()
            try await fixture.claimAsDeadProcess()
            let dispatching = Task { await fixture.dispatcher.run() }
            let ended = try await fixture.ended(delivery.id)
            #expect(ended.state == .accepted && ended.attempts.map(\.failure) == ["interrupted", nil])
            #expect(fixture.gateway.handOvers.map(\.message.body) == [delivery.body])
            dispatching.cancel()
            await dispatching.value
        }
    }

    @Test func `what a dead process was sending passes the gate before it is sent again`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let user = try UserID("alice")
            let delivery = try await fixture.send(.user(user, transactionID: "1"))
            try await fixture.claimAsDeadProcess()
            try await fixture.record("alice", isConsented: false)
            let dispatching = Task { await fixture.dispatcher.run() }
            let ended = try await fixture.ended(delivery.id)
            #expect(ended.state == .cancelled && ended.mayHaveReachedApple)
            #expect(fixture.gateway.handOvers.isEmpty)
            dispatching.cancel()
            await dispatching.value
        }
    }
}

extension DeliveryFixture {
    /// Leaves what is due claimed by a process that is no more.
    func claimAsDeadProcess() async throws {
        _ = try await store.store.claimDeliveries(
            DeliveryClaim(worker: "dead", now: now, lease: .seconds(60), limit: 10))
    }
}
