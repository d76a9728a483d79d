import Foundation
import TestSupport
import Testing

@testable import Domain

/// The purchases of a receipt as callers see them.
struct InAppPurchaseTests {
    private static let identifiers = ReceiptIdentifiers { $0 }

    private static func seconds(_ seconds: TimeInterval) -> Date { Date(timeIntervalSince1970: seconds) }

    private static func transaction(
        _ id: String, original: String? = nil, purchased: TimeInterval = 1000, expires: TimeInterval? = nil,
        signed: TimeInterval = 5000, revoked: TimeInterval? = nil, isFamilyShared: Bool = false,
        details change: (inout TransactionDetails) -> Void = { _ in }
    ) -> Transaction {
        var details = TransactionDetails()
        change(&details)
        return Transaction(
            transactionID: id, originalTransactionID: original ?? id, appTransactionID: "A", productID: "gems",
            productType: expires == nil ? .consumable : .autoRenewableSubscription, purchaseDate: seconds(purchased),
            expiresDate: expires.map(seconds), signedDate: seconds(signed), revocationDate: revoked.map(seconds),
            isFamilyShared: isFamilyShared, environment: .production, details: details, payload: Array("{}".utf8),
            signed: "a.b.c")
    }

    private func purchases(
        _ content: ReceiptContent, _ answers: [Transaction]..., app: App = ReceiptFixture.app
    ) throws -> [InAppPurchase] {
        let upload = ReceiptUpload(receipt: [1], countryCode: "DE", user: try UserID("alice"))
        var receipt = ReceiptRules.draft(
            id: "r", digest: [1], upload, content, of: app, isRawKept: false, at: Self.seconds(10_000))
        for (number, transactions) in answers.enumerated() {
            let now = Self.seconds(10_000 + 100 * TimeInterval(number + 1))
            let conclusion = ReceiptConclusion(
                receipt, outcome: .known(transactions), at: now, isTimeCertain: true, nextAttemptAt: now,
                usersPerTransaction: 3)
            receipt = ReceiptRules.conclude(receipt, conclusion, hasLinkConflict: false, users: 1)
        }
        return Self.identifiers.purchases(of: receipt, app: app)
    }

    @Test func `before Apple has told, it is what the receipt says`() throws {
        let purchase = try #require(
            try purchases(.sample(.sample("1", expires: 2000, cancelled: 1500))).first)
        #expect(purchase.productID == "gems" && purchase.quantity == 1 && purchase.type == nil)
        #expect(purchase.currencyCode == nil && purchase.apple == nil && purchase.lastSyncedAt == nil)
        #expect(purchase.environment == .production && purchase.countryCode == "DE" && purchase.user?.value == "alice")
        #expect(purchase.purchasedAt == Self.seconds(1000))
        #expect(
            purchase.currentPeriodStartAt == Self.seconds(1000) && purchase.currentPeriodEndAt == Self.seconds(2000))
        #expect(purchase.canceledAt == Self.seconds(1500) && purchase.canceledBy == .unknown)
        #expect(purchase.isAutoRenewing == nil && purchase.isInGracePeriod == nil && purchase.isInTrialPeriod == nil)
        #expect(purchase.version == 1 && purchase.appIdentifier == "com.example.coins")
    }

    @Test func `Apple's present view comes first, and the receipt's words stand beside`() throws {
        let renewal = Self.transaction("2", original: "1", purchased: 2000, expires: 3000)
        let first = Self.transaction("1", expires: 2000) { details in
            details.quantity = 3
            details.currency = "EUR"
            details.offerDiscountType = "FREE_TRIAL"
        }
        let purchase = try #require(try purchases(.sample(.sample("1", expires: 2000)), [renewal, first]).first)
        #expect(purchase.quantity == 3 && purchase.currencyCode == "EUR")
        #expect(purchase.type == "Auto-Renewable Subscription")
        #expect(purchase.receipt.expiresDate == Self.seconds(2000) && purchase.apple?.transactionID == "1")
        // Of the subscription as it is now, which is not in trial.
        #expect(
            purchase.currentPeriodStartAt == Self.seconds(2000) && purchase.currentPeriodEndAt == Self.seconds(3000))
        #expect(purchase.isInTrialPeriod == nil)
        #expect(purchase.lastSyncedAt == Self.seconds(10_100))
    }

    @Test func `whoever took it back is named where Apple says so`() throws {
        let refund = try purchases(.sample(), [Self.transaction("1", revoked: 1500)])
        #expect(refund.map(\.canceledBy) == [.marketplace] && refund.map(\.canceledAt) == [Self.seconds(1500)])
        let shared = try purchases(.sample(), [Self.transaction("1", revoked: 1500, isFamilyShared: true)])
        #expect(shared.map(\.canceledBy) == [.unknown])
        let upgrade = try purchases(
            .sample(.sample("1", cancelled: 1500)), [Self.transaction("1", expires: 2000) { $0.isUpgraded = true }])
        #expect(upgrade.map(\.canceledBy) == [.user])
        #expect(try purchases(.sample(), [Self.transaction("1")]).map(\.canceledBy) == [nil])
    }

    @Test func `the version counts changes, and what Apple signs anew without one is none`() throws {
        let content = ReceiptContent.sample()
        let same = [Self.transaction("1")]
        let signedAnew = [Self.transaction("1", signed: 6000)]
        let refunded = [Self.transaction("1", signed: 7000, revoked: 6500)]
        let older = [Self.transaction("1", signed: 4000)]
        let versions = try [
            purchases(content), purchases(content, same), purchases(content, same, signedAnew),
            purchases(content, same, signedAnew, refunded), purchases(content, same, refunded, older),
        ].map { try #require($0.first) }
        #expect(versions.map(\.version) == [1, 2, 2, 3, 3])
        #expect(versions.map(\.updatedAt) == [10_000, 10_100, 10_100, 10_300, 10_200].map(Self.seconds))
        #expect(Set(versions.map(\.id)).count == 1)
        #expect(versions[1].factID == versions[2].factID && versions[2].factID != versions[3].factID)
        #expect(versions[4].canceledBy == .marketplace)
    }

    @Test func `names are UUIDs, the same for ever and different for what is different`() throws {
        let purchases = try purchases(.sample((1...50).map { .sample("\($0)") }))
        #expect(Set(purchases.map(\.id)).count == 50)
        for name in purchases.flatMap({ [$0.id, $0.factID, $0.appFamilyID] }) {
            #expect(ConsumptionRules.isUUID(name) && UUID(uuidString: name) != nil)
        }
        #expect(purchases.map(\.id) == (try self.purchases(.sample((1...50).map { .sample("\($0)") }))).map(\.id))
        #expect(Set(purchases.map(\.appFamilyID)).count == 1)
    }

    @Test func `an app's UUID can be configured`() {
        let family = "9f2c1d3e-5a4b-4c6d-8e7f-001122334455"
        let app = App(slug: "coins", bundleID: "com.example.coins", appFamilyID: family.uppercased())
        #expect(Self.identifiers.appFamilyID(of: app) == family)
        let names = [ReceiptFixture.app, DeliveryFixture.otherApp].map(Self.identifiers.appFamilyID)
        #expect(names[0] != names[1] && names.allSatisfy(ConsumptionRules.isUUID))
    }
}
