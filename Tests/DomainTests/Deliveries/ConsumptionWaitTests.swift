import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

/// How long a caller waits, and how requests are recognised that come again.
@Suite(.endsHangs) struct ConsumptionWaitTests {
    @Test func `a caller whose wait is over is told of the delivery as it is, and it goes on`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.consumptionGate.close()
            let waiting = Task { try await fixture.send(wait: .seconds(5)) }
            await fixture.gateway.consumptionGate.hasArrivals(1)
            try await fixture.sleepersHaveArrived()
            fixture.clock.advance(by: .seconds(5))
            let told = try await waiting.value
            #expect(told.state == .sending)
            fixture.gateway.consumptionGate.open()
            #expect(try await fixture.ended(told.id).state == .accepted)
        }
    }

    private struct Place: RequestSlot {
        let note: @Sendable (String) -> Void

        func belongs(to caller: String, showing authorization: String?) -> Bool { true }
        func beginIdling() { note("leave") }
        func endIdling() { note("retake") }
    }

    @Test func `whoever waits for Apple takes no place meanwhile`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let steps = Mutex<[String]>([])
            let place = Place { step in steps.withLock { $0.append(step) } }
            let request = ConsumptionService.Request(
                caller: "billing", target: .transaction("1"), answer: DeliveryFixture.answer(), wait: .seconds(5),
                slot: place)
            let call = UpstreamCall(
                app: DeliveryFixture.app, environment: nil, deadline: .now + .seconds(100_000))
            let waiting = Task { try await fixture.consumption.send(request, call) }
            try await fixture.sleepersHaveArrived()
            #expect(steps.withLock { $0 } == ["leave"])
            fixture.clock.advance(by: .seconds(5))
            _ = try await waiting.value
            #expect(steps.withLock { $0 } == ["leave", "retake"])
        }
    }

    @Test func `a wait ends with the time of the whole request`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let request = ConsumptionService.Request(
                caller: "billing", target: .transaction("1"), answer: DeliveryFixture.answer(), wait: .seconds(3600))
            let call = UpstreamCall(app: DeliveryFixture.app, environment: nil, deadline: .now - .seconds(1))
            let delivery = try await fixture.consumption.send(request, call)
            #expect(delivery.state == .queued)
        }
    }

    @Test func `an outcome that nobody announces is found in the store when the wait is over`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let waiting = Task { try await fixture.send(wait: .seconds(5)) }
            let page = try await fixture.firstDelivery()
            _ = try await fixture.store.cancelDelivery(
                app: "coins", id: page.id, because: DeliveryFailure(reason: .deliveryEnded, message: "x"),
                at: fixture.now)
            try await fixture.sleepersHaveArrived()
            fixture.clock.advance(by: .seconds(5))
            let failure = try await fixture.failure {
                try await waiting.value
            }
            #expect(failure?.reason == .deliveryEnded && failure?.delivery?.id == page.id)
        }
    }

    @Test func `a delivery that has been accepted is told even if the store cannot be read`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            fixture.store.fail(.read)
            let waiting = Task { try await fixture.send(wait: .seconds(5)) }
            try await fixture.sleepersHaveArrived()
            fixture.clock.advance(by: .seconds(5))
            let delivery = try await waiting.value
            #expect(delivery.state == .queued)
        }
    }

    @Test func `the same request under a key is the same delivery, whatever became of it`() async throws {
        try await DeliveryFixture.with { fixture in
            let first = try await fixture.send(wait: .seconds(5), key: "k", content: "a")
            let again = try await fixture.send(.transaction("9"), wait: .seconds(5), key: "k", content: "a")
            #expect(again == first && again.state == .accepted)
            #expect(fixture.gateway.handOvers.count == 1)
            fixture.gateway.failConsumption(.rejected)
            for _ in 1...2 {
                let failure = try await fixture.failure {
                    try await fixture.send(
                        answer: DeliveryFixture.answer(7), wait: .seconds(5), key: "refused", content: "a")
                }
                #expect(failure?.reason == .appleRejected && failure?.delivery?.state == .refused)
            }
            #expect(fixture.gateway.handOvers.count == 2)
        }
    }

    @Test func `a request that comes again under its key while the first is under way waits for the same end`()
        async throws
    {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.consumptionGate.close()
            let first = Task { try await fixture.send(wait: .seconds(5), key: "k", content: "a") }
            await fixture.gateway.consumptionGate.hasArrivals(1)
            let second = Task { try await fixture.send(wait: .seconds(5), key: "k", content: "a") }
            try await fixture.sleepersHaveArrived(2)
            fixture.gateway.consumptionGate.open()
            let both = try await (first.value, second.value)
            #expect(both.0.state == .accepted && both.1.state == .accepted && both.0.id == both.1.id)
            #expect(fixture.gateway.handOvers.count == 1)
        }
    }

    @Test func `another request under a key is refused`() async throws {
        try await DeliveryFixture.with { fixture in
            let first = try await fixture.send(wait: .seconds(5), key: "k", content: "a")
            let failure = try await fixture.failure {
                try await fixture.send(wait: .seconds(5), key: "k", content: "b")
            }
            #expect(failure?.reason == .idempotencyKeyReused && failure?.delivery?.id == first.id)
        }
    }

    @Test func `a key is forgotten after a day`() async throws {
        try await DeliveryFixture.with { fixture in
            let first = try await fixture.send(wait: .seconds(5), key: "k", content: "a")
            fixture.advance(by: .seconds(25 * 3600))
            let second = try await fixture.send(wait: .seconds(5), key: "k", content: "b")
            #expect(second.id != first.id && second.state == .accepted)
        }
    }
}

extension DeliveryFixture {
    /// Returns as soon as there is a delivery.
    func firstDelivery() async throws -> Delivery {
        try await Wait.value("a delivery") {
            try await deliveries.deliveries(app: Self.app, DeliveryQuery()).first
        }
    }
}
