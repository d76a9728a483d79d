import Foundation
import TestSupport
import Testing

@testable import Domain

/// A failure that all answers of an app in an environment share keeps the others of that app environment from being tried in
/// vain.
@Suite(.endsHangs) struct DispatcherPauseTests {
    private static let slow = CallResult.failed(
        CallFailure(ServiceError(.budgetExhausted, "used up", retryAfter: .seconds(120))), attempts: 0)

    @Test func `an app environment that rests is left alone, and the other app environments go on`() async throws {
        let coins = [Transaction.sample(id: "1"), .sample(id: "2"), .sample(id: "3", environment: .sandbox)]
        let gems = Transaction.sample(id: "7", environment: .sandbox)
        try await DeliveryFixture.with(accounts: [coins, [gems]]) { fixture in
            fixture.gateway.plan([Self.slow], for: "1")
            let first = try await fixture.send(environment: .production).id
            let waiting = try await fixture.delivery(first) { $0.failure != nil }
            #expect(waiting.state == .queued && waiting.nextAttemptAt == fixture.now.addingTimeInterval(120))
            let second = try await fixture.send(.transaction("2"), environment: .production).id
            let sandbox = try await fixture.send(.transaction("3"), environment: .sandbox).id
            let other = try await fixture.send(.transaction("7"), in: DeliveryFixture.otherApp).id
            #expect(try await fixture.ended(sandbox).state == .accepted)
            #expect(try await fixture.ended(other, in: DeliveryFixture.otherApp).state == .accepted)
            #expect(try await fixture.delivery(second) { _ in true }.state == .queued)
            #expect(!fixture.gateway.handOvers.contains { $0.message.transactionID == "2" })
            fixture.advance(by: .seconds(120))
            #expect(try await fixture.ended(first).state == .accepted)
            #expect(try await fixture.ended(second).state == .accepted)
        }
    }

    @Test func `nobody looks because of a delivery whose app environment rests, unless its deadline comes soon`()
        async throws
    {
        let coins = [Transaction.sample(id: "1"), .sample(id: "2"), .sample(id: "3", environment: .sandbox)]
        try await DeliveryFixture.with(accounts: [coins]) { fixture in
            fixture.gateway.plan([Self.slow], for: "1")
            let first = try await fixture.send(environment: .production)
            #expect(!fixture.dispatcher.isLookInVain(for: first))
            _ = try await fixture.delivery(first.id) { $0.failure != nil }
            #expect(fixture.dispatcher.isLookInVain(for: first))
            let soon = try await fixture.send(
                .transaction("2"), environment: .production, deadline: fixture.now.addingTimeInterval(30))
            #expect(!fixture.dispatcher.isLookInVain(for: soon))
            let other = try await fixture.send(.transaction("3"), environment: .sandbox)
            #expect(!fixture.dispatcher.isLookInVain(for: other))
            fixture.advance(by: .seconds(120))
            #expect(!fixture.dispatcher.isLookInVain(for: first))
        }
    }

    @Test func `a failure of one caller's own leaves the app environment to the others`() async throws {
        let coins = [Transaction.sample(id: "1"), .sample(id: "2")]
        try await DeliveryFixture.with(accounts: [coins]) { fixture in
            fixture.gateway.plan(
                [
                    .failed(
                        CallFailure(
                            ServiceError(.budgetExhausted, "share", retryAfter: .seconds(120)),
                            refusedCaller: "billing"),
                        attempts: 0)
                ], for: "1")
            let first = try await fixture.send(environment: .production).id
            _ = try await fixture.delivery(first) { $0.failure != nil }
            let second = try await fixture.send(.transaction("2"), environment: .production).id
            #expect(try await fixture.ended(second).state == .accepted)
            #expect(try await fixture.delivery(first) { _ in true }.state == .queued)
        }
    }

    @Test func `look-ups that would all fail rest too, while known purchases are sent`() async throws {
        let coins = [Transaction.sample(id: "1"), .sample(id: "2"), .sample(id: "3")]
        try await DeliveryFixture.with(accounts: [coins]) { fixture in
            fixture.gateway.fail("1", with: ServiceError(.budgetExhausted, "used up", retryAfter: .seconds(300)))
            let first = try await fixture.send().id
            _ = try await fixture.delivery(first) { $0.failure != nil }
            let second = try await fixture.send(.transaction("2")).id
            _ = try await fixture.openCase(coins[2])
            let third = try await fixture.send(.transaction("3")).id
            #expect(try await fixture.ended(third).state == .accepted)
            #expect(try await fixture.delivery(second) { _ in true }.state == .queued)
            fixture.gateway.fail("1", with: nil)
            fixture.advance(by: .seconds(300))
            #expect(try await fixture.ended(first).state == .accepted)
            #expect(try await fixture.ended(second).state == .accepted)
        }
    }

    @Test func `an app that Apple does not know rests until its configuration is mended`() async throws {
        let coins = [Transaction.sample(id: "1"), .sample(id: "2")]
        try await DeliveryFixture.with(accounts: [coins]) { fixture in
            fixture.gateway.plan([.failed(CallFailure(ServiceError(.appleAppUnknown, "wrong bundle id")))], for: "1")
            let first = try await fixture.send(environment: .production).id
            let waiting = try await fixture.delivery(first) { $0.failure != nil }
            #expect(waiting.state == .queued && waiting.failure?.reason == .appleAppUnknown)
            let second = try await fixture.send(.transaction("2"), environment: .production).id
            #expect(fixture.gateway.handOvers.map(\.message.transactionID) == ["1"])
            fixture.advance(by: .seconds(300))
            #expect(try await fixture.ended(first).state == .accepted)
            #expect(try await fixture.ended(second).state == .accepted)
        }
    }

    @Test func `an app that is no longer configured keeps its deliveries until their deadline`() async throws {
        try await DeliveryFixture.with(apps: [DeliveryFixture.otherApp]) { fixture in
            let id = try await fixture.send(deadline: fixture.now.addingTimeInterval(100)).id
            let waiting = try await fixture.delivery(id) { $0.failure != nil }
            #expect(waiting.state == .queued && waiting.failure?.reason == .appNotFound)
            fixture.advance(by: .seconds(100))
            #expect(try await fixture.ended(id).state == .expired)
            #expect(fixture.gateway.questions.isEmpty)
        }
    }

    @Test func `an environment that is no longer allowed is not sent to`() async throws {
        let narrowed = App(slug: "coins", bundleID: "com.example.coins", environments: [.production])
        let purchase = Transaction.sample(id: "1", environment: .sandbox)
        try await DeliveryFixture.with(accounts: [[purchase]], apps: [narrowed]) { fixture in
            let id = try await fixture.send(environment: .sandbox).id
            let waiting = try await fixture.delivery(id) { $0.failure != nil }
            #expect(waiting.state == .queued && waiting.failure?.reason == .environmentNotAllowed)
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }
}
