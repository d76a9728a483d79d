import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

struct CaseServiceTests {
    private static let purchase = Transaction.sample(id: "1", account: "A")

    private func service(_ fixture: DeliveryFixture) -> CaseService {
        CaseService(
            store: fixture.store.store, deliveries: fixture.store.store,
            ending: DeliveryEnding(
                transfers: fixture.transfers, waiters: DeliveryWaiters(), elsewhere: fixture.elsewhere,
                audit: fixture.ports.audit),
            now: fixture.serviceClock.now)
    }

    /// Declines, and tells the error's cases if it fails.
    private func declining(
        _ fixture: DeliveryFixture, _ id: String, in app: App = DeliveryFixture.app
    ) async -> Result<RefundCase, ServiceError> {
        do throws(ServiceError) {
            return .success(
                try await service(fixture).decline(app: app, id: id, note: "no consent", caller: "support"))
        } catch {
            return .failure(error)
        }
    }

    @Test func `cases are shown and listed for their app alone, with the deliveries that answer them`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let opened = try await fixture.openCase(Self.purchase)
            let delivery = try await fixture.send(.refundCase(opened.id))
            let service = service(fixture)
            #expect(try await service.refundCase(app: DeliveryFixture.app, id: opened.id) == opened)
            #expect(try await service.cases(app: DeliveryFixture.app, CaseQuery()) == [opened])
            #expect(try await service.cases(app: DeliveryFixture.otherApp, CaseQuery()).isEmpty)
            #expect(try await service.deliveries(of: opened).map(\.id) == [delivery.id])
            await #expect(throws: ServiceError(.caseNotFound, "")) {
                try await service.refundCase(app: DeliveryFixture.otherApp, id: opened.id)
            }
        }
    }

    @Test func `declining keeps who and why, and ends what is queued`() async throws {
        try await DeliveryFixture.with(isDispatching: false) { fixture in
            let opened = try await fixture.openCase(Self.purchase)
            let delivery = try await fixture.send(.refundCase(opened.id))
            fixture.clock.advance(by: .seconds(60))
            let declined = try await declining(fixture, opened.id).get()
            #expect(declined.state == .declined)
            #expect(declined.decline == .init(caller: "support", note: "no consent", at: fixture.now))
            #expect(try await fixture.ended(delivery.id).state == .cancelled)
            // Declining again changes nothing.
            #expect(try await declining(fixture, opened.id).get() == declined)
        }
    }

    @Test func `after declining nothing of an answer is sent any more`() async throws {
        try await DeliveryFixture.with { fixture in
            fixture.gateway.consumptionGate.close()
            let opened = try await fixture.openCase(Self.purchase)
            let delivery = try await fixture.send(.refundCase(opened.id))
            await fixture.gateway.consumptionGate.hasArrivals(1)
            _ = try await declining(fixture, opened.id).get()
            let mark = fixture.gateway.mark()
            #expect(fixture.gateway.handOvers.allSatisfy { ($0.end ?? .max) < mark })
            let ended = try await fixture.ended(delivery.id)
            #expect(ended.state == .cancelled && ended.mayHaveReachedApple)
        }
    }

    @Test func `a case that is over cannot be declined, and is named`() async throws {
        try await DeliveryFixture.with { fixture in
            let opened = try await fixture.openCase(Self.purchase)
            _ = try await fixture.send(.refundCase(opened.id), wait: .seconds(5))
            guard case .failure(let error) = await declining(fixture, opened.id) else {
                Issue.record("An answered case was declined.")
                return
            }
            #expect(error.reason == .caseClosed)
            #expect(error.cases.map(\.state) == [.answered])
            guard case .failure(let unknown) = await declining(fixture, opened.id, in: DeliveryFixture.otherApp) else {
                Issue.record("Another app's case was declined.")
                return
            }
            #expect(unknown.reason == .caseNotFound)
        }
    }
}
