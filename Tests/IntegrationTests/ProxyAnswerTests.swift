import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// A machine between us and Apple that answers in Apple's place, for a while, at each stage of a call's way.
struct ProxyAnswerTests {
    private static let effects: [Fault.Effect] =
        [302, 403, 404, 407, 408, 451].map { .status($0) } + [.garbage, .truncatedBody]

    @Test(arguments: effects)
    func `an answer about consumption goes on until it reaches Apple`(effect: Fault.Effect) async throws {
        for stage in [Endpoint.Operation.getTransactionInfo, .sendConsumptionInformation] {
            try await DaemonFixture.with { fixture in
                let gems = try await fixture.customer().transaction
                let state = fixture.simulator.state
                state.inject(Fault(effect, operation: stage, count: 2))
                let reply = try await fixture.send(
                    "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption", ["Prefer": "respond-async"],
                    body: DaemonFixture.consumption())
                #expect(reply.status == 202)
                try await fixture.event("delivery.accepted", about: gems)
                #expect(fixture.calls(stage) >= 2, "\(stage.name)")
            }
        }
    }

    @Test(arguments: effects)
    func `a reader is told that it was not Apple, and is answered when it is`(effect: Fault.Effect) async throws {
        try await DaemonFixture.with { fixture in
            let (user, _, gems) = try await fixture.customer()
            let state = fixture.simulator.state
            for (operation, path) in [
                (Endpoint.Operation.getTransactionInfo, "transactions/\(gems)?environment=Production"),
                (.getTransactionHistory, "users/\(user)/transactions?environment=Production"),
                (.getRefundHistory, "users/\(user)/refunds?environment=Production"),
                (.getAllSubscriptionStatuses, "users/\(user)/subscriptions?environment=Production"),
            ] {
                state.inject(Fault(effect, operation: operation))
                let reply = try await fixture.send("GET", "\(DaemonFixture.app)/\(path)")
                #expect([502, 503].contains(reply.status), "\(operation.name)")
                #expect(try reply.json["apple"] == nil && reply.json["type"]?.string?.contains("apple") == true)
                state.removeAllFaults()
                let again = try await fixture.send("GET", "\(DaemonFixture.app)/\(path)")
                #expect(again.status == 200, "\(operation.name): \(String(decoding: again.body, as: UTF8.self))")
            }
        }
    }
}
