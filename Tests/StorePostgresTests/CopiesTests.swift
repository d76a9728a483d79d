import Domain
import Foundation
import StoreSQL
import TestSupport
import Testing

@testable import StorePostgres

/// What several copies of the daemon on one database promise together: each test has one accept, another one send, and a third one
/// change its mind.
@Suite(.needsPostgres)
struct CopiesTests {
    @Test func `what one copy accepts another one sends, and who waits is told`() async throws {
        try await CopiesFixture.run(working: [1]) { copies in
            let exchange = Task { await copies[0].services.exchange.run() }
            let delivery = try await copies[0].send(wait: .seconds(Wait.seconds))
            #expect(delivery.state == .accepted)
            #expect(copies[1].gateway.handOvers.count == 1 && copies[0].gateway.handOvers.isEmpty)
            exchange.cancel()
            await exchange.value
        }
    }

    @Test func `a withdrawal ends what another copy sends, and is answered when that has ended`() async throws {
        try await CopiesFixture.run { copies in
            for copy in copies.copies { copy.gateway.consumptionGate.close() }
            let delivery = try await copies[0].send(.user(try UserID("alice"), transactionID: "1"))
            let sender = try await copies.sender()
            let other = copies.copies.first { $0.id != sender.id } ?? sender
            let outcome = try await other.record("alice", isConsented: false)
            #expect(sender.gateway.handOvers.first?.end != nil)
            #expect(outcome.mayHaveBeenSent.map(\.id) == [delivery.id] && outcome.cancelled.isEmpty)
            let ended = try await other.delivery(delivery.id)
            #expect(ended.state == .cancelled && ended.mayHaveReachedApple)
        }
    }

    @Test func `what an attempt has found out about a purchase a withdrawal elsewhere finds`() async throws {
        let owned = Transaction.sample(id: "1", account: "A", token: Self.alice)
        try await CopiesFixture.run(accounts: [[owned]]) { copies in
            for copy in copies.copies { copy.gateway.consumptionGate.close() }
            // Nobody is named, and whose the purchase is only Apple knows.
            let delivery = try await copies[0].send()
            let sender = try await copies.sender()
            let other = copies.copies.first { $0.id != sender.id } ?? sender
            _ = try await other.store.declare(
                try Link.sample(.appAccountToken, Self.alice, user: Self.alice), transfer: false)
            let outcome = try await other.record(Self.alice, isConsented: false)
            #expect(outcome.mayHaveBeenSent.map(\.id) == [delivery.id])
            #expect(sender.gateway.handOvers.first?.end != nil)
        }
    }

    private static let alice = "5a5f2a8e-4f1f-4a8b-9a39-6d1a5b0a7f11"

    @Test func `nobody takes what another copy sends before its lease ends, whatever that copy is called`() async throws
    {
        try await CopiesFixture.run(working: []) { copies in
            let delivery = try await copies[0].send()
            try await copies[0].claimAndDie(lease: .seconds(3600))
            let later = Date().addingTimeInterval(7200)
            #expect(try await copies[1].store.recoverDeliveries(worker: "copy 1", at: later) == 0)
            #expect(try await copies[1].delivery(delivery.id).state == .sending)
            try await copies.endLeases()
            #expect(try await copies[1].store.recoverDeliveries(worker: "copy 1", at: Date()) == 1)
            let queued = try await copies[1].delivery(delivery.id)
            #expect(queued.state == .queued && queued.mayHaveReachedApple)
            #expect(queued.attempts.map(\.failure) == ["interrupted"])
        }
    }

    @Test func `what a copy was sending that died another one sends when the lease is over`() async throws {
        try await CopiesFixture.run(working: []) { copies in
            let delivery = try await copies[0].send()
            try await copies[0].claimAndDie(lease: .milliseconds(300))
            let work = Task { await copies[1].work() }
            let ended = try await copies[0].delivery(delivery.id) { $0.state.isFinal }
            #expect(ended.state == .accepted && ended.attempts.map(\.failure) == ["interrupted", nil])
            work.cancel()
            await work.value
        }
    }

    @Test func `a withdrawal waits for the lease of a copy that died, and says what that may have sent`() async throws {
        try await CopiesFixture.run(working: []) { copies in
            let delivery = try await copies[0].send(.user(try UserID("alice"), transactionID: "1"))
            try await copies[0].claimAndDie(lease: .milliseconds(700))
            let outcome = try await copies[1].record("alice", isConsented: false)
            #expect(outcome.mayHaveBeenSent.map(\.id) == [delivery.id])
            let ended = try await copies[1].delivery(delivery.id)
            #expect(ended.state == .cancelled && ended.mayHaveReachedApple)
            #expect(try await copies[1].store.claimsToEnd(of: "dead", among: [delivery.id]) == [delivery.id])
        }
    }

    @Test func `an end that somebody asks for is told to the copy that sends, and a lost message is made up for`()
        async throws
    {
        try await CopiesFixture.run { copies in
            for copy in copies.copies { copy.gateway.consumptionGate.close() }
            let delivery = try await copies[0].send()
            let sender = try await copies.sender()
            // No trigger, no message.
            try await sender.store.write("test") {
                try $0.execute(sql: "ALTER TABLE delivery DISABLE TRIGGER deliveryIsClaimedOrEnds")
            }
            let other = copies.copies.first { $0.id != sender.id } ?? sender
            let ended = try await other.services.refunds.deliveries.cancel(
                app: CopiesFixture.app, id: delivery.id, caller: "billing")
            #expect(ended.state == .cancelled && ended.mayHaveReachedApple)
            #expect(sender.gateway.handOvers.first?.end != nil)
        }
    }

    @Test func `a claim that nobody knows of is given back, and was never under way`() async throws {
        try await CopiesFixture.run(working: []) { copies in
            let delivery = try await copies[0].send()
            try await copies[0].claimAndDie(lease: .seconds(3600))
            try await copies[0].store.returnClaims(of: "dead", except: [delivery.id], at: Date())
            #expect(try await copies[0].delivery(delivery.id).state == .sending)
            try await copies[0].store.returnClaims(of: "dead", except: [], at: Date())
            let queued = try await copies[0].delivery(delivery.id)
            #expect(queued.state == .queued && !queued.mayHaveReachedApple && queued.attempts.isEmpty)
        }
    }

    @Test func `a worker that wakes when its claim is another's records nothing`() async throws {
        try await CopiesFixture.run(working: []) { copies in
            let delivery = try await copies[0].send()
            let first = Date().roundedToMilliseconds
            func claim(at now: Date) async throws -> [Delivery] {
                try await copies[0].store.claimDeliveries(
                    DeliveryClaim(worker: "same", now: now, lease: .zero, limit: 1)
                ).deliveries
            }
            func conclude(claimedAt: Date) async throws -> Delivery? {
                try await copies[0].store.conclude(
                    DeliveryConclusion(
                        id: delivery.id, app: "coins", worker: "same", claimedAt: claimedAt, outcome: .accepted,
                        attempts: [], mayHaveReachedApple: true, at: Date()))
            }
            #expect(try await claim(at: first).count == 1)
            #expect(try await copies[1].store.recoverDeliveries(worker: "other", at: Date()) == 1)
            let second = first.addingTimeInterval(1)
            #expect(try await claim(at: second).count == 1)
            #expect(try await conclude(claimedAt: first) == nil)
            #expect(try await conclude(claimedAt: second)?.state == .accepted)
        }
    }

    @Test func `the hold counts in the transaction that claims`() async throws {
        try await CopiesFixture.run(working: []) { copies in
            let delivery = try await copies[0].send()
            try await copies[1].store.write("test") {
                try SendingHoldRow.insert(SendingHold(since: Date(), reason: "a backup"), into: $0)
            }
            #expect(try await copies[0].claimAndDie(lease: .seconds(60)).isEmpty)
            _ = try await copies[1].store.releaseSending(by: "root", at: Date())
            #expect(try await copies[0].claimAndDie(lease: .seconds(60)).map(\.id) == [delivery.id])
        }
    }

    @Test func `of one transaction the database lets one delivery be sent at a time`() async throws {
        try await CopiesFixture.run(working: []) { copies in
            for number in 1...2 {
                try await copies[0].store.queue(.sample("\(number)", transaction: "\(number)"))
            }
            _ = try? await copies[0].store.write("test") {
                try $0.execute(sql: "UPDATE delivery SET transactionId = '1000', state = 'sending', isReady = NULL")
            }
            let sending = try await copies[0].store.read("look") {
                try Int.fetchOne($0.cachedStatement(sql: "SELECT count(*) FROM delivery WHERE state = 'sending'"))
            }
            #expect(sending == 0)
        }
    }
}

extension CopiesFixture {
    /// The copy that is sending the one delivery, as soon as one is.
    func sender() async throws -> Copy {
        try await Wait.value("a copy to send") { copies.first { !$0.gateway.handOvers.isEmpty } }
    }

    /// Lets every lease be over.
    func endLeases() async throws {
        try await copies[0].store.write("test") { try $0.execute(sql: "UPDATE delivery SET leaseUntil = 0") }
    }
}
