import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// What a caller is told, from the checks before an answer is accepted to what becomes of it.
@Suite(.endsHangs) struct ConsumptionServiceTests {
    @Test func `what Apple accepts teaches a link`() async throws {
        try await DeliveryFixture.with { fixture in
            let delivery = try await fixture.send(.user(try UserID("alice"), transactionID: "1"), wait: .seconds(5))
            #expect(delivery.state == .accepted && delivery.attempts.count == 1)
            #expect(delivery.deadline == DeliveryFixture.start.addingTimeInterval(12 * 3600))
            #expect(delivery.environment == .production && !delivery.mayHaveReachedApple)
            let links = try await fixture.store.store.links(app: "coins", user: try UserID("alice"))
            #expect(links.map(\.target) == [LinkTarget(.transactionId, "1")])
            #expect(links.first?.source == .consumption && links.first?.environment == .production)
        }
    }

    @Test func `what Apple refuses teaches nothing, and tells of the delivery and of Apple's very answer`() async throws
    {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.failConsumption(.rejected)
            let user = try UserID("alice")
            let failure = try await fixture.failure {
                try await fixture.send(.user(user, transactionID: "1"), wait: .seconds(5))
            }
            #expect(failure?.reason == .appleRejected && failure?.delivery?.state == .refused)
            #expect(failure?.apple?.body == Array("{}".utf8))
            #expect(try await fixture.store.store.links(app: "coins", user: user).isEmpty)
        }
    }

    @Test func `a key under which an accepted answer was shown again stands for that answer`() async throws {
        let later = Transaction.sample(id: "2", account: "A")
        try await DeliveryFixture.with(accounts: [[.sample(id: "1", account: "A"), later]]) { fixture in
            for id in ["1", "2"] { try await fixture.link(id, to: "alice") }
            _ = try await fixture.openCase(.sample(id: "1", account: "A"))
            let target = ConsumptionService.Target.user(try UserID("alice"), transactionID: nil)
            let accepted = try await fixture.send(target, wait: .seconds(5))
            #expect(accepted.state == .accepted)
            #expect(try await fixture.send(target, key: "k", content: "a").id == accepted.id)
            _ = try await fixture.openCase(later)
            #expect(try await fixture.send(target, key: "k", content: "a").id == accepted.id, "not the new case's")
            let other = try await fixture.failure { try await fixture.send(target, key: "k", content: "b") }
            #expect(other?.reason == .idempotencyKeyReused && other?.delivery?.id == accepted.id)
        }
    }

    @Test func `the purchase of another user is refused before anything is kept`() async throws {
        try await DeliveryFixture.with { fixture in
            try await fixture.link("1", to: "bob")
            let user = try UserID("alice")
            await #expect(throws: ServiceError(.ownedByAnotherUser, "")) {
                try await fixture.send(.user(user, transactionID: "1"), wait: .seconds(5))
            }
            #expect(fixture.gateway.questions == [.transaction("1")])
            #expect(try await fixture.deliveries.deliveries(app: DeliveryFixture.app, DeliveryQuery()).isEmpty)
        }
    }

    @Test func `without a user the owner does not matter and nothing is learnt`() async throws {
        try await DeliveryFixture.with { fixture in
            try await fixture.link("1", to: "bob")
            #expect(try await fixture.send(wait: .seconds(5)).user == nil)
            let links = try await fixture.store.store.links(app: "coins", targets: [LinkTarget(.transactionId, "1")])
            #expect(links.count == 1)
        }
    }

    @Test func `the rules of the purchase apply when Apple tells of it in time`() async throws {
        try await DeliveryFixture.with(accounts: [[.sample(id: "1", type: .autoRenewableSubscription)]]) { fixture in
            let failure = try await fixture.failure {
                try await fixture.send(answer: DeliveryFixture.answer(50_000), wait: .seconds(5))
            }
            #expect(failure?.violations.map(\.rule) == ["autoRenewable"])
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }

    @Test func `a warning of the rules is part of the delivery`() async throws {
        try await DeliveryFixture.with { fixture in
            let delivery = try await fixture.send(
                answer: DeliveryFixture.answer(preference: .grantProrated), wait: .seconds(5))
            #expect(delivery.warnings.count == 1)
        }
    }

    @Test func `a caller that does not wait is answered without a question to Apple`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let delivery = try await fixture.send()
            #expect(delivery.state == .queued && delivery.environment == nil && delivery.purchase == nil)
            #expect(fixture.gateway.questions.isEmpty)
        }
    }

    @Test func `the environment of an app that has only one need not be found out`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let delivery = try await fixture.send(in: DeliveryFixture.otherApp)
            #expect(delivery.environment == .sandbox)
        }
    }

    @Test func `Apple out of reach keeps no answer from being accepted`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            fixture.gateway.fail("1", with: ServiceError(.appleUnavailable, "down"))
            let waiting = Task { try await fixture.send(wait: .seconds(5)) }
            try await fixture.sleepersHaveArrived()
            fixture.clock.advance(by: .seconds(5))
            let delivery = try await waiting.value
            #expect(delivery.state == .queued && delivery.purchase == nil)
            #expect(fixture.gateway.questions == [.transaction("1")])
        }
    }

    @Test func `looking a purchase up takes at most two seconds of the wait`() async throws {
        try await DeliveryFixture.with { fixture in
            _ = try await fixture.send(wait: .seconds(60))
            _ = try await fixture.send(answer: DeliveryFixture.answer(1), wait: .milliseconds(500))
            let deadlines = zip(fixture.gateway.questions, fixture.gateway.calls)
                .filter { $0.0 == .transaction("1") }.map(\.1.deadline)
            #expect(deadlines.count == 2)
            #expect(deadlines.first.map { $0.duration(to: deadlines[1]) } == .milliseconds(-1500))
        }
    }

    @Test func `a transaction that Apple does not know is refused, and nothing is kept`() async throws {
        try await DeliveryFixture.with { fixture in
            let failure = try await fixture.failure {
                try await fixture.send(.transaction("9"), wait: .seconds(5))
            }
            #expect(failure?.reason == .appleRejected && failure?.delivery == nil)
            #expect(try await fixture.deliveries.deliveries(app: DeliveryFixture.app, DeliveryQuery()).isEmpty)
        }
    }

    @Test func `a deadline can only shorten, and must lie ahead`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let start = DeliveryFixture.start
            let end = start.addingTimeInterval(12 * 3600)
            for late in [end.addingTimeInterval(0.001), .distantFuture] {
                await #expect(throws: ServiceError(.invalidRequest, "")) { try await fixture.send(deadline: late) }
            }
            let last = try await fixture.send(deadline: end)
            #expect(last.deadline == end)
            _ = try await fixture.deliveries.cancel(app: DeliveryFixture.app, id: last.id, caller: "billing")
            let short = try await fixture.send(
                answer: DeliveryFixture.answer(1), deadline: start.addingTimeInterval(60))
            #expect(short.deadline == start.addingTimeInterval(60))
            await #expect(throws: ServiceError(.invalidRequest, "")) { try await fixture.send(deadline: start) }
        }
    }

    @Test func `storage that fails takes nothing over, and nothing is sent`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.store.fail(.accept)
            await #expect(throws: ServiceError(.storeUnavailable, "")) { try await fixture.send(wait: .seconds(5)) }
            fixture.store.heal()
            #expect(try await fixture.deliveries.deliveries(app: DeliveryFixture.app, DeliveryQuery()).isEmpty)
            #expect(fixture.gateway.handOvers.isEmpty)
            let delivery = try await fixture.send(wait: .seconds(5))
            #expect(delivery.state == .accepted)
        }
    }

    @Test func `a user who has withdrawn keeps an answer from being accepted`() async throws {
        try await DeliveryFixture.with { fixture in
            try await fixture.record("alice", isConsented: false)
            let user = try UserID("alice")
            await #expect(throws: ServiceError(.consentWithdrawn, "")) {
                try await fixture.send(.user(user, transactionID: "1"), wait: .seconds(5))
            }
            try await fixture.record("alice", isConsented: true)
            #expect(try await fixture.send(.user(user, transactionID: "1"), wait: .seconds(5)).state == .accepted)
        }
    }
}
