import Foundation
import TestSupport
import Testing

@testable import Domain

/// What callers see of deliveries, and how they end them.
@Suite(.endsHangs) struct DeliveryServiceTests {
    private let app = DeliveryFixture.app

    @Test func `deliveries are found by id within their app, and listed`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let id = try await fixture.send().id
            #expect(try await fixture.deliveries.delivery(app: app, id: id).id == id)
            #expect(try await fixture.deliveries.deliveries(app: app, DeliveryQuery()).map(\.id) == [id])
            for (other, name) in [(DeliveryFixture.otherApp, id), (app, "none")] {
                await #expect(throws: ServiceError(.deliveryNotFound, "")) {
                    try await fixture.deliveries.delivery(app: other, id: name)
                }
                await #expect(throws: ServiceError(.deliveryNotFound, "")) {
                    try await fixture.deliveries.cancel(app: other, id: name, caller: "billing")
                }
            }
        }
    }

    @Test func `what is queued is cancelled at once, and whoever waits for it is told`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let waiting = Task { try await fixture.send(wait: .seconds(5)) }
            let id = try await fixture.firstDelivery().id
            try await fixture.sleepersHaveArrived()
            let cancelled = try await fixture.deliveries.cancel(app: app, id: id, caller: "billing")
            #expect(cancelled.state == .cancelled && cancelled.failure?.reason == .deliveryEnded)
            let failure = try await fixture.failure { try await waiting.value }
            #expect(failure?.reason == .deliveryEnded && failure?.delivery?.id == id)
            let again = try await fixture.failure {
                try await fixture.deliveries.cancel(app: app, id: id, caller: "billing")
            }
            #expect(again?.reason == .deliveryEnded && again?.delivery?.state == .cancelled)
        }
    }

    @Test func `what is being sent is ended before the answer, and may have reached Apple`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.consumptionGate.close()
            let id = try await fixture.send().id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let cancelled = try await fixture.deliveries.cancel(app: app, id: id, caller: "billing")
            #expect(fixture.gateway.handOvers.first?.end != nil)
            #expect(cancelled.state == .cancelled && cancelled.mayHaveReachedApple)
            #expect(cancelled.failure?.reason == .deliveryEnded)
            fixture.gateway.consumptionGate.open()
            fixture.advance(by: .seconds(600))
            await fixture.dispatcher.heartbeat()
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }

    @Test func `what has been claimed but not sent yet is not sent any more`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.store.claimed.close()
            let id = try await fixture.send().id
            await fixture.store.claimed.hasArrivals(1)
            let cancelling = Task { try await fixture.deliveries.cancel(app: app, id: id, caller: "billing") }
            try await Wait.until("somebody who waits for what has been claimed") { fixture.transfers.waitingCount > 0 }
            fixture.store.claimed.open()
            #expect(try await cancelling.value.state == .cancelled)
            #expect(fixture.gateway.handOvers.isEmpty)
        }
    }

    @Test func `what Apple has accepted cannot be cancelled`() async throws {
        try await DeliveryFixture.with { fixture in
            let id = try await fixture.ended(try await fixture.send().id).id
            let failure = try await fixture.failure {
                try await fixture.deliveries.cancel(app: app, id: id, caller: "billing")
            }
            #expect(failure?.reason == .deliveryEnded && failure?.delivery?.state == .accepted)
        }
    }

    @Test func `a cancellation does not wait for a disk that is full`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.consumptionGate.close()
            let id = try await fixture.send().id
            await fixture.gateway.consumptionGate.hasArrivals(1)
            fixture.store.fail(.conclude)
            #expect(try await fixture.deliveries.cancel(app: app, id: id, caller: "billing").state == .sending)
            #expect(fixture.gateway.handOvers.first?.end != nil)
            fixture.store.heal()
            fixture.advance(by: .seconds(10))
            #expect(try await fixture.ended(id).state == .cancelled)
        }
    }
}
