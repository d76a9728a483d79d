import Foundation
import TestSupport
import Testing

@testable import Domain

/// Nothing that is signed leaves before its record is kept.
struct SigningServiceTests {
    private let audit = RememberedAudit()
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)

    private func service(
        digest: @escaping @Sendable ([UInt8]) -> [UInt8] = TestCode.authenticationCode,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) -> SigningService {
        SigningService(
            signatures: FakeSignatures(), tokens: FakeSignatures(), audit: audit, digest: digest, monotonicNow: now)
    }

    @Test func `each signature and token has a record of who got it, by which key, and its digest`() async throws {
        let service = service()
        let request = StoreKitRequest.promotionalOffer(productID: "p", offerIdentifier: "o", transactionID: nil)
        let signature = try await service.signature(for: request, app: app, by: .caller("shop"))
        let offer = OriginalPromotionalOffer(productID: "p", offerIdentifier: "o", applicationUsername: "")
        let older = try await service.signature(for: offer, app: app, by: .caller("shop"))
        let token = try await service.token(for: app, by: .caller("billing"))
        let acts = audit.acts
        #expect(acts.map(\.action) == [.signatureMade, .signatureMade, .tokenHandedOut])
        #expect(acts.map(\.actor) == [.caller("shop"), .caller("shop"), .caller("billing")])
        #expect(acts.allSatisfy { $0.app == "coins" && $0.keyID == FakeSignatures.keyID })
        #expect(
            acts.map(\.tokenDigest)
                == [Array(signature.value.utf8), older.value, Array(token.value.utf8)].map(TestCode.authenticationCode))
        #expect(acts.map { $0.details["kind"] } == ["promotionalOffer", "promotionalOfferV1", nil])
    }

    @Test func `without a record nothing is handed out`() async {
        audit.fail()
        let service = service()
        let unavailable = ServiceError(.auditUnavailable, "")
        let request = StoreKitRequest.promotionalOffer(productID: "p", offerIdentifier: "o", transactionID: nil)
        let offer = OriginalPromotionalOffer(productID: "p", offerIdentifier: "o", applicationUsername: "")
        await #expect(throws: unavailable) { try await service.signature(for: request, app: app, by: .caller("s")) }
        await #expect(throws: unavailable) { try await service.signature(for: offer, app: app, by: .caller("s")) }
        await #expect(throws: unavailable) { try await service.token(for: app, by: .caller("s")) }
    }

    @Test(arguments: [0, 31, 33])
    func `what has no digest is neither handed out nor recorded`(count: Int) async {
        let service = service { _ in [UInt8](repeating: 7, count: count) }
        let unavailable = ServiceError(.keyUnavailable, "")
        let request = StoreKitRequest.promotionalOffer(productID: "p", offerIdentifier: "o", transactionID: nil)
        let offer = OriginalPromotionalOffer(productID: "p", offerIdentifier: "o", applicationUsername: "")
        await #expect(throws: unavailable) { try await service.signature(for: request, app: app, by: .caller("s")) }
        await #expect(throws: unavailable) { try await service.signature(for: offer, app: app, by: .caller("s")) }
        await #expect(throws: unavailable) { try await service.token(for: app, by: .caller("s")) }
        #expect(audit.acts.isEmpty)
    }

    @Test func `names that an operator claims are one operator's`() async throws {
        let service = service(now: { [now = ContinuousClock.now] in now })
        for number in 0..<TokenRate.allowedPerWindow {
            _ = try await service.token(for: app, by: .operator(uid: 0, claimedName: "name\(number)"))
        }
        await #expect(throws: ServiceError(.tokenRateExceeded, "")) {
            try await service.token(for: app, by: .operator(uid: 0, claimedName: "another"))
        }
    }

    @Test func `a caller gets so many tokens a minute for an app, whatever others get`() async throws {
        let clock = ManualClock()
        let origin = ContinuousClock.now
        let service = service(now: { origin + clock.now.offset })
        for _ in 0..<TokenRate.allowedPerWindow { _ = try await service.token(for: app, by: .caller("shop")) }
        do {
            _ = try await service.token(for: app, by: .caller("shop"))
            Issue.record("one too many")
        } catch {
            #expect(error.reason == .tokenRateExceeded && error.retryAfter == .seconds(60))
        }
        _ = try await service.token(for: app, by: .caller("billing"))
        #expect(audit.acts(.tokenHandedOut).count == TokenRate.allowedPerWindow + 1)
        clock.advance(by: .seconds(60))
        _ = try await service.token(for: app, by: .caller("shop"))
    }
}
