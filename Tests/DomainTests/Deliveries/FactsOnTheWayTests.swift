import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// Who applies what Apple has told before it decides also ends what is being sent, as if it had been the processor.
@Suite(.endsHangs) struct FactsOnTheWayTests {
    private let app = DeliveryFixture.app
    private let purchase = Transaction.sample(id: "1", account: "A")
    private let other = Transaction.sample(id: "2", account: "A")

    /// Lets an answer reach Apple, who does not answer; runs a test then, and checks that the answer was taken back.
    private func whileSending(
        for duration: Duration = .seconds(1), _ act: @Sendable (DeliveryFixture, Delivery) async throws -> Void
    ) async throws {
        try await DeliveryFixture.with(accounts: [[purchase, other]]) { fixture in
            fixture.gateway.consumptionGate.close()
            _ = try await fixture.openCase(purchase)
            let sent = try await fixture.send()
            await fixture.gateway.consumptionGate.hasArrivals(1)
            fixture.advance(by: duration)
            try await act(fixture, sent)
            // Nobody opens the gate: the transfer ends because it is aborted.
            let ended = try await fixture.ended(sent.id)
            #expect(ended.state == .cancelled && ended.mayHaveReachedApple)
        }
    }

    /// Whether nothing of the first answer is being handed over.
    private static func areOver(_ fixture: DeliveryFixture) -> Bool {
        let handOvers = fixture.gateway.handOvers
        return handOvers.filter { $0.message.body == handOvers[0].message.body }.allSatisfy { $0.end != nil }
    }

    @Test(arguments: ["REFUND", "REFUND_DECLINED"])
    func `an answer that is accepted after Apple has decided`(type: String) async throws {
        try await whileSending { fixture, _ in
            try await fixture.notify(type, purchase, signedAt: fixture.now, isApplied: false)
            _ = try await fixture.failure { try await fixture.send(answer: DeliveryFixture.answer(5)) }
            #expect(Self.areOver(fixture), "ended when the caller is answered")
        }
    }

    /// After a minute the claim has run out, as if the machine had slept, and the answer is claimed once more.
    @Test(arguments: [1, 60])
    func `a decline after Apple has decided`(seconds: Int) async throws {
        try await whileSending(for: .seconds(seconds)) { fixture, sent in
            try await fixture.notify("REFUND", purchase, signedAt: fixture.now, isApplied: false)
            let id = try #require(sent.caseID)
            let failure = try await fixture.failure {
                try await fixture.services.refunds.cases.decline(app: app, id: id, note: nil, caller: "billing")
            }
            #expect(failure?.reason == .caseClosed)
            #expect(Self.areOver(fixture), "ended when the caller is answered")
        }
    }

    @Test func `the gate of another answer of the Apple Account, after a guardian has rescinded consent`() async throws
    {
        try await whileSending { fixture, _ in
            try await fixture.notify("RESCIND_CONSENT", purchase, signedAt: fixture.now, isApplied: false)
            let second = try await fixture.send(.transaction("2"))
            let ended = try await fixture.ended(second.id)
            #expect(ended.state == .cancelled && ended.failure?.reason == .consentWithdrawn)
            #expect(fixture.gateway.handOvers.map(\.message.transactionID) == ["1"])
            // Nobody else will apply it, and nobody else would record it.
            let audit = try #require(fixture.ports.audit as? RememberedAudit)
            let recorded = audit.acts(.consentRecorded)
            #expect(recorded.map(\.actor) == [.daemon] && recorded.first?.details["guardian"] == "true")
        }
    }

    @Test func `whoever waits for a queued answer learns at once that a decline ended it`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let refundCase = try await fixture.openCase(purchase)
            let queued = try await fixture.send()
            async let waited = fixture.failure { try await fixture.send(wait: .seconds(3600)) }
            try await fixture.sleepersHaveArrived(within: .seconds(3600))
            _ = try await fixture.services.refunds.cases.decline(
                app: app, id: refundCase.id, note: nil, caller: "billing")
            let failure = try await waited
            #expect(failure?.reason == .deliveryEnded && failure?.delivery?.id == queued.id)
        }
    }
}
