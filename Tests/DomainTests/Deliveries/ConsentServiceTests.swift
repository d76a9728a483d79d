import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

@testable import Domain

/// What a withdrawal and an erasure do to answers that are on their way, in every order in which they can meet.
@Suite(.endsHangs) struct ConsentServiceTests {
    private let app = DeliveryFixture.app

    @Test func `every record is kept, and a source has bounds`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let user = try UserID("alice")
            try await fixture.record("alice", isConsented: true)
            fixture.advance(by: .seconds(1))
            let said = fixture.now.addingTimeInterval(-100)
            _ = try await fixture.consent.record(
                app: app, user: user, isConsented: false, source: "settings-v3", at: said, caller: "shop")
            let history = try await fixture.consent.history(app: app, user: user)
            #expect(history.map(\.isConsented) == [true, false])
            #expect(
                history.map(\.at) == [DeliveryFixture.start, said] && history.map(\.recordedBy) == ["billing", "shop"])
            for source in ["", String(repeating: "x", count: 129)] {
                await #expect(throws: ServiceError(.invalidRequest, "")) {
                    try await fixture.consent.record(
                        app: app, user: user, isConsented: true, source: source, at: nil, caller: "shop")
                }
            }
        }
    }

    @Test func `a withdrawal cancels what is queued, and tells what Apple may have`() async throws {
        let transactions = [Transaction.sample(id: "1"), .sample(id: "2")]
        try await DeliveryFixture.with(accounts: [transactions]) { fixture in
            let user = try UserID("alice")
            fixture.gateway.plan([.failed(.unavailable)], for: "1")
            fixture.gateway.plan([.failed(.unavailable, mayHaveReachedApple: true)], for: "2")
            let clean = try await fixture.send(.user(user, transactionID: "1")).id
            let doubtful = try await fixture.send(.user(user, transactionID: "2")).id
            for id in [clean, doubtful] {
                _ = try await fixture.delivery(id) { $0.attemptCount == 1 && $0.state == .queued }
            }
            let outcome = try await fixture.record("alice", isConsented: false)
            #expect(outcome.cancelled.map(\.id) == [clean] && outcome.mayHaveBeenSent.map(\.id) == [doubtful])
            #expect((outcome.cancelled + outcome.mayHaveBeenSent).allSatisfy { $0.state == .cancelled })
            fixture.advance(by: .seconds(600))
            await fixture.dispatcher.heartbeat()
            #expect(fixture.gateway.handOvers.count == 2)
        }
    }

    @Test func `whoever waits for a delivery is told of the withdrawal that ends it`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let user = try UserID("alice")
            let waiting = Task { try await fixture.send(.user(user, transactionID: "1"), wait: .seconds(5)) }
            _ = try await fixture.firstDelivery()
            try await fixture.sleepersHaveArrived()
            try await fixture.record("alice", isConsented: false)
            let failure = try await fixture.failure { try await waiting.value }
            #expect(failure?.reason == .consentWithdrawn && failure?.delivery?.state == .cancelled)
        }
    }

    /// The question comes before the withdrawal: the look finds the attempt.
    @Test func `an attempt that has passed the gate is ended before the withdrawal is answered`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.consumptionGate.close()
            let id = try await fixture.send(.user(try UserID("alice"), transactionID: "1")).id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let outcome = try await fixture.record("alice", isConsented: false)
            #expect(fixture.gateway.handOvers.count == 1 && fixture.gateway.handOvers.first?.end != nil)
            #expect(outcome.mayHaveBeenSent.map(\.id) == [id] && outcome.cancelled.isEmpty)
            #expect(outcome.mayHaveBeenSent.first?.state == .cancelled)
        }
    }

    /// The question comes after the withdrawal: it finds the commit, whether or not anybody has looked yet.
    @Test func `an attempt that comes to the gate after the withdrawal does not pass`() async throws {
        try await DeliveryFixture.with { fixture in
            let user = try UserID("alice")
            fixture.store.objections.close()
            let id = try await fixture.send(.user(user, transactionID: "1")).id
            await fixture.store.objections.hasArrivals(1)
            let record = ConsentRecord(
                app: "coins", user: user, isConsented: false, source: "test", at: fixture.now,
                recordedAt: fixture.now, recordedBy: "billing")
            _ = try await fixture.store.recordConsent(record)
            fixture.store.objections.open()
            let delivery = try await fixture.ended(id)
            #expect(delivery.state == .cancelled && delivery.failure?.reason == .consentWithdrawn)
            #expect(!delivery.mayHaveReachedApple && fixture.gateway.handOvers.isEmpty)
        }
    }

    @Test func `an attempt that is ended before the gate is told as cancelled`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.store.objections.close()
            let id = try await fixture.send(.user(try UserID("alice"), transactionID: "1")).id
            await fixture.store.objections.hasArrivals(1)
            let withdrawing = Task { try await fixture.record("alice", isConsented: false) }
            // Whoever is ended asks once more why.
            await fixture.store.objections.hasArrivals(2)
            fixture.store.objections.open()
            let outcome = try await withdrawing.value
            #expect(outcome.cancelled.map(\.id) == [id] && outcome.mayHaveBeenSent.isEmpty)
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }

    /// The attempt is not registered yet when the withdrawal is committed: the look waits for it.
    @Test func `what has been claimed but not registered does not escape a withdrawal`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.store.claimed.close()
            let id = try await fixture.send(.user(try UserID("alice"), transactionID: "1")).id
            await fixture.store.claimed.hasArrivals(1)
            let withdrawing = Task { try await fixture.record("alice", isConsented: false) }
            try await Wait.until("somebody who waits for what has been claimed") { fixture.transfers.waitingCount > 0 }
            fixture.store.claimed.open()
            #expect(try await withdrawing.value.cancelled.map(\.id) == [id])
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }

    @Test func `what Apple accepts while it is being withdrawn is told as sent`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.ignoreCancellation()
            fixture.gateway.consumptionGate.close()
            let id = try await fixture.send(.user(try UserID("alice"), transactionID: "1")).id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let outcome = try await fixture.record("alice", isConsented: false)
            #expect(outcome.mayHaveBeenSent.map(\.id) == [id] && outcome.mayHaveBeenSent.first?.state == .accepted)
        }
    }

    @Test func `a withdrawal ends an attempt of an owner whom only the attempt knows`() async throws {
        let token = "0b1c2d3e-0000-4000-8000-000000000001"
        try await DeliveryFixture.with(accounts: [[.sample(id: "1", token: token)]]) { fixture in
            _ = try await fixture.store.store.declare(
                try Link.sample(.appAccountToken, token, user: "bob"), transfer: false)
            fixture.gateway.consumptionGate.close()
            let id = try await fixture.send().id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let outcome = try await fixture.record("bob", isConsented: false)
            #expect(outcome.mayHaveBeenSent.map(\.id) == [id])
            #expect(fixture.gateway.handOvers.first?.end != nil)
            #expect(try await fixture.ended(id).failure?.reason == .consentWithdrawn)
        }
    }

    @Test func `a withdrawal leaves the attempts of others alone`() async throws {
        let transactions = [Transaction.sample(id: "1"), .sample(id: "2")]
        try await DeliveryFixture.with(accounts: [transactions]) { fixture in
            fixture.gateway.consumptionGate.close()
            let id = try await fixture.send(.user(try UserID("alice"), transactionID: "1")).id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let outcome = try await fixture.record("bob", isConsented: false)
            #expect(outcome.cancelled.isEmpty && outcome.mayHaveBeenSent.isEmpty)
            fixture.gateway.consumptionGate.open()
            #expect(try await fixture.ended(id).state == .accepted)
        }
    }

    @Test func `an erasure ends what is being sent before it is answered`() async throws {
        let transactions = [Transaction.sample(id: "1"), .sample(id: "2")]
        let policy = DispatchPolicy(concurrency: 1)
        try await DeliveryFixture.with(accounts: [transactions], policy: policy) { fixture in
            let user = try UserID("alice")
            fixture.gateway.consumptionGate.close()
            let sending = try await fixture.send(.user(user, transactionID: "1")).id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let queued = try await fixture.send(.user(user, transactionID: "2")).id
            let report = try await fixture.consent.erase(app: app, user: user, by: .caller("shop"))
            #expect(report.cancelled.map(\.id) == [queued])
            #expect(report.sending.map(\.id) == [sending] && report.sending.first?.state == .cancelled)
            #expect(fixture.gateway.handOvers.count == 1 && fixture.gateway.handOvers.first?.end != nil)
            fixture.gateway.consumptionGate.open()
            fixture.advance(by: .seconds(600))
            await fixture.dispatcher.heartbeat()
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }

    @Test func `an erasure that cannot empty the log has happened: it is recorded, ends what is sent, and is told`()
        async throws
    {
        try await DeliveryFixture.with(accounts: [[Transaction.sample(id: "1")]]) { fixture in
            let user = try UserID("alice")
            fixture.gateway.consumptionGate.close()
            let sending = try await fixture.send(.user(user, transactionID: "1")).id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            fixture.store.fail(.truncate)
            await #expect(throws: ServiceError(.storeUnavailable, "")) {
                try await fixture.consent.erase(app: app, user: user, by: .caller("shop"))
            }
            #expect(try await fixture.ended(sending).state == .cancelled)
            #expect(fixture.gateway.handOvers.first?.end != nil)
            let audit = try #require(fixture.ports.audit as? RememberedAudit)
            #expect(audit.acts(.userErased).count == 1)
            fixture.store.heal()
            #expect(try await fixture.consent.erase(app: app, user: user, by: .caller("shop")).deliveries == 0)
        }
    }
}
