import AppStoreAPI
import Foundation
import Testing

@testable import AppStoreSimulator

/// What becomes of subscriptions on command and by themselves, and what is notified.
struct SubscriptionLifecycleTests {
    private static let app = "com.example.coins"
    private static let day: Int64 = 86_400_000

    private let clock = TestClock()
    private let state: SimulatorState

    /// A state whose app wants its notifications, which nobody sends.
    init() throws {
        let clock = clock
        state = SimulatorState(seed: 1) { clock.now }
        try state.register(RegisteredApp(bundleID: Self.app, appAppleID: 1, issuerID: "team"))
        let url = try #require(NotificationURL("https://example.com/"))
        try state.setNotificationAddress(NotificationAddress(url: url), of: Self.app, in: .sandbox)
        try state.createAccount("ann", in: .sandbox, family: "f")
        try state.createAccount("bob", in: .sandbox, family: "f")
    }

    private func buy(
        _ type: ProductType = .autoRenewableSubscription, _ change: (inout TransactionPayload) -> Void = { _ in }
    ) throws -> String {
        var purchase = TransactionPayload()
        purchase.bundleId = Self.app
        purchase.productId = "gold"
        purchase.type = type
        change(&purchase)
        return try #require(try state.buy(purchase, by: "ann").transactionId)
    }

    /// The notifications since so many, with their subtypes.
    private func events(after count: Int = 0) -> [String] {
        state.notifications.dropFirst(count).map { notification in
            let draft = notification.draft
            return ([draft.type.rawValue] + [draft.subtype?.rawValue].compactMap { $0 }).joined(separator: "/")
        }
    }

    /// What the latest notification says.
    private func latest() throws -> NotifiedPurchase {
        guard case .data(let subject) = try #require(state.notifications.last).draft.subject else {
            throw ControlError.notFound("data")
        }
        return subject
    }

    private func status(_ id: String) throws -> SubscriptionStatus { try state.subscriptionStatus(of: id) }

    private func renewalInfo(_ id: String) throws -> RenewalInfoPayload {
        let now = state.milliseconds
        return try state.withContent { content in
            try #require(content.renewalInfo(of: try content.world.record(id), at: now))
        }
    }

    // MARK: On command

    /// What happens to a subscription, and what is notified of it after the purchase.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let notified: [String]
        let happen: @Sendable (SimulatorState, String) throws -> Void

        init(
            _ description: String, _ notified: String...,
            happen: @escaping @Sendable (SimulatorState, String) throws -> Void
        ) {
            testDescription = description
            self.notified = notified
            self.happen = happen
        }
    }

    private func expect(_ notified: [String], _ happen: (String) throws -> Void) throws {
        try happen(try buy())
        #expect(events() == ["SUBSCRIBED/INITIAL_BUY"] + notified)
    }

    @Test(arguments: [
        (ExpirationIntent.customerCancelled, "EXPIRED/VOLUNTARY"), (.billingError, "EXPIRED/BILLING_RETRY"),
        (.customerDidNotConsentToPriceIncrease, "EXPIRED/PRICE_INCREASE"),
        (.productNotAvailable, "EXPIRED/PRODUCT_NOT_FOR_SALE"), (.other, "EXPIRED"),
    ])
    func `an expiry is notified of with its reason`(reason: ExpirationIntent, notified: String) throws {
        try expect([notified]) { try state.expire($0, because: reason) }
    }

    @Test(arguments: [
        Story("a renewal", "DID_RENEW") { try $0.renew($1) },
        Story("a charge that fails", "DID_FAIL_TO_RENEW") { try $0.failBilling($1) },
        Story("a charge that fails, with a grace period", "DID_FAIL_TO_RENEW/GRACE_PERIOD") {
            try $0.failBilling($1, gracePeriod: 1000)
        },
        Story("a charge that fails and is made up for", "DID_FAIL_TO_RENEW", "DID_RENEW/BILLING_RECOVERY") {
            try $0.failBilling($1)
            try $0.renew($1)
        },
    ])
    func `how periods end and begin is notified of as Apple does`(story: Story) throws {
        try expect(story.notified) { try story.happen(state, $0) }
    }

    @Test(arguments: [
        Story("an upgrade", "DID_CHANGE_RENEWAL_PREF/UPGRADE") { try $0.upgrade($1, to: "platinum") },
        Story("a downgrade", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE") { try $0.downgrade($1, to: "silver") },
        Story("a downgrade taken back", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF") {
            try $0.downgrade($1, to: "silver")
            try $0.downgrade($1, to: nil)
        },
        Story(
            "renewal off twice and on again", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED"
        ) {
            for willRenew in [false, false, true] { try $0.set(SubscriptionSettings(willRenew: willRenew), of: $1) }
        },
        Story("a resubscription", "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE") {
            try $0.expire($1)
            try $0.resubscribe($1)
        },
        Story("a refund, and its reversal", "REFUND", "REFUND_REVERSED") {
            try $0.refund($1)
            try $0.reverseRefund($1)
        },
        Story("sharing that ends", "SUBSCRIBED/INITIAL_BUY", "REVOKE") {
            try $0.endSharing(try #require(try $0.share($1, with: "bob").transactionId))
        },
        Story("a refund of what is shared", "SUBSCRIBED/INITIAL_BUY", "REFUND", "REVOKE") {
            try $0.share($1, with: "bob")
            try $0.refund($1)
        },
        Story("a restoration, of which nobody is told") { try $0.restore($1) },
    ])
    func `what customers do is notified of as Apple does`(story: Story) throws {
        try expect(story.notified) { try story.happen(state, $0) }
    }

    @Test func `a purchase of another kind is a one-time charge`() throws {
        for type in [ProductType.consumable, .nonConsumable, .nonRenewingSubscription] { _ = try buy(type) }
        #expect(events() == ["ONE_TIME_CHARGE", "ONE_TIME_CHARGE", "ONE_TIME_CHARGE"])
        #expect(try latest().status == nil && latest().renewalInfo == nil)
    }

    @Test func `notifications tell how the subscription is then`() throws {
        let id = try buy()
        try state.failBilling(id, gracePeriod: Self.day)
        let failed = try latest()
        #expect(failed.status == .billingGracePeriod && failed.transaction?.transactionId == id)
        #expect(failed.renewalInfo?.isInBillingRetryPeriod == true)
        #expect(failed.renewalInfo?.gracePeriodExpiresDate == clock.milliseconds + Self.day)
        let recovered = try state.renew(id)
        let subject = try latest()
        #expect(subject.status == .active && subject.transaction?.transactionId == recovered.transactionId)
        #expect(subject.renewalInfo?.isInBillingRetryPeriod == nil)
    }

    @Test func `a downgrade waits for the renewal, an upgrade does not`() throws {
        let id = try buy()
        let present = try state.downgrade(id, to: "silver", price: 990)
        #expect(present.transactionId == id && present.productId == "gold")
        #expect(try renewalInfo(id).autoRenewProductId == "silver" && renewalInfo(id).renewalPrice == 990)
        let renewed = try state.renew(id)
        #expect(renewed.productId == "silver" && renewed.price == 990 && renewed.purchaseDate == present.expiresDate)
        #expect(try renewalInfo(id).autoRenewProductId == "silver")
        clock.advance(by: 1)
        let upgraded = try state.upgrade(id, to: "platinum")
        #expect(upgraded.purchaseDate == clock.milliseconds + 0 || upgraded.transactionId != renewed.transactionId)
        #expect(try state.transaction(try #require(renewed.transactionId)).isUpgraded == true)
    }

    @Test func `an expired subscription says why, and can begin anew`() throws {
        let id = try buy()
        clock.advance(by: 3600)
        try state.expire(id)
        #expect(try status(id) == .expired)
        let info = try renewalInfo(id)
        #expect(info.expirationIntent == .customerCancelled && info.autoRenewStatus == .off)
        #expect(info.isInBillingRetryPeriod == false && info.renewalDate == clock.milliseconds)
        clock.advance(by: 61 * 86_400)
        let again = try state.resubscribe(id, to: "silver", price: 990)
        #expect(again.originalTransactionId == id && again.productId == "silver" && again.price == 990)
        #expect(again.transactionReason == .purchase && again.expiresDate == clock.milliseconds + 30 * Self.day)
        #expect(try status(id) == .active && renewalInfo(id).autoRenewStatus == .on)
        #expect(try renewalInfo(id).recentSubscriptionStartDate == clock.milliseconds)
    }

    @Test func `a short gap does not begin a new run`() throws {
        let id = try buy()
        try state.expire(id)
        clock.advance(by: 500)
        try state.resubscribe(id)
        #expect(try renewalInfo(id).recentSubscriptionStartDate == clock.milliseconds - 500_000)
    }

    @Test func `time alone ends a period`() throws {
        let id = try buy()
        clock.advance(by: 30 * 86_400)
        #expect(try status(id) == .expired && renewalInfo(id).expirationIntent == .other)
        try state.set(SubscriptionSettings(willRenew: false), of: id)
        #expect(try renewalInfo(id).expirationIntent == .customerCancelled)
        #expect(!events().contains { $0.hasPrefix("EXPIRED") })
    }

    @Test func `a recovery goes on from the old date only during the grace period`() throws {
        let graced = try buy()
        let lapsed = try buy()
        try state.failBilling(graced, gracePeriod: Self.day)
        try state.failBilling(lapsed)
        let end = clock.milliseconds
        clock.advance(by: 3600)
        #expect(try state.renew(graced).purchaseDate == end)
        #expect(try state.renew(lapsed).purchaseDate == clock.milliseconds)
    }

    @Test func `members of the family share what happens`() throws {
        let id = try buy()
        let shared = try #require(try state.share(id, with: "bob").transactionId)
        let renewed = try state.renew(id)
        let before = events().count
        try state.failBilling(id)
        #expect(events(after: before) == ["DID_FAIL_TO_RENEW", "DID_FAIL_TO_RENEW"])
        #expect(try status(shared) == .billingRetry && renewalInfo(shared).originalTransactionId == shared)
        let theirs = state.withContent { content in
            content.world.records.values.map(\.payload).filter { $0.originalTransactionId == shared }
        }
        #expect(theirs.count == 2 && theirs.contains { $0.purchaseDate == renewed.purchaseDate })
        #expect(theirs.allSatisfy { $0.inAppOwnershipType == .familyShared })
        try state.refund(try #require(renewed.transactionId))
        #expect(try status(id) == .revoked && status(shared) == .revoked)
    }

    @Test func `what cannot be is refused`() throws {
        let coins = try buy(.consumable)
        let active = try buy()
        let expired = try buy()
        try state.expire(expired)
        let failed = try buy()
        try state.failBilling(failed)
        let refunded = try buy()
        try state.refund(refunded)
        let shared = try #require(try state.share(active, with: "bob").transactionId)
        let short = try buy { $0.expiresDate = clock.milliseconds + 1000 }
        let attempts: [() throws -> Void] = [
            { try state.expire(coins) }, { try state.expire(expired) }, { try state.expire(refunded) },
            { try state.expire(shared) }, { try state.failBilling(coins) }, { try state.failBilling(expired) },
            { try state.failBilling(failed) }, { try state.failBilling(refunded) }, { try state.resubscribe(active) },
            { try state.resubscribe(failed) }, { try state.downgrade(active, to: "gold") },
            { try state.downgrade(active, to: nil) }, { try state.downgrade(expired, to: "silver") },
            { try state.upgrade(expired, to: "platinum") }, { try state.upgrade(active, to: "gold") },
            { try state.endSharing(active) }, { try state.renew(shared) }, { try state.renew("1") },
            { try state.set(SubscriptionSettings(renewsByItself: true), of: short) },
            { try state.set(SubscriptionSettings(willRenew: true), of: coins) }, { _ = try status(coins) },
        ]
        for (index, attempt) in attempts.enumerated() {
            #expect(throws: ControlError.self, "\(index)") { try attempt() }
        }
        try state.endSharing(shared)
        #expect(throws: ControlError.self) { try state.endSharing(shared) }
    }

    // MARK: By themselves

    @Test func `subscriptions renew by themselves, each at its time`() throws {
        let id = try buy()
        let plain = try buy()
        try state.set(SubscriptionSettings(renewsByItself: true), of: id)
        let before = events().count
        clock.advance(by: 95 * 86_400)
        state.passTime()
        #expect(events(after: before) == ["DID_RENEW", "DID_RENEW", "DID_RENEW"])
        let start = clock.milliseconds - 95 * Self.day
        #expect(state.notifications.suffix(3).map(\.signedDate) == [30, 60, 90].map { start + $0 * Self.day })
        #expect(try status(id) == .active && renewalInfo(id).renewalDate == start + 120 * Self.day)
        #expect(try renewalInfo(id).recentSubscriptionStartDate == start)
        #expect(try status(plain) == .expired)
    }

    @Test func `a cancelled subscription expires by itself`() throws {
        let id = try buy()
        try state.set(SubscriptionSettings(willRenew: false, renewsByItself: true), of: id)
        let before = events().count
        clock.advance(by: 31 * 86_400)
        #expect(try status(id) == .expired)
        #expect(events(after: before) == ["EXPIRED/VOLUNTARY"])
        #expect(try state.transaction(id).expiresDate == clock.milliseconds - Self.day)
    }

    @Test func `a charge fails, is tried again, and given up`() throws {
        let id = try buy()
        try state.set(
            SubscriptionSettings(renewsByItself: true, billingFails: true, gracePeriodLength: 16 * Self.day), of: id)
        let before = events().count
        func expect(_ wanted: SubscriptionStatus, after days: Double, _ notified: [String]) throws {
            clock.advance(by: days * 86_400)
            #expect(try status(id) == wanted)
            #expect(events(after: before) == notified)
        }
        try expect(.active, after: 29, [])
        try expect(.billingGracePeriod, after: 1, ["DID_FAIL_TO_RENEW/GRACE_PERIOD"])
        try expect(.billingRetry, after: 16, ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED"])
        #expect(try renewalInfo(id).expirationIntent == .billingError)
        try expect(
            .expired, after: 44, ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY"])
        #expect(try renewalInfo(id).isInBillingRetryPeriod == false)
    }

    @Test func `a refunded subscription does not go on`() throws {
        let id = try buy()
        try state.set(SubscriptionSettings(renewsByItself: true), of: id)
        try state.refund(id)
        clock.advance(by: 100 * 86_400)
        #expect(try status(id) == .revoked && !events().contains("DID_RENEW"))
    }

    @Test func `much that is due is done in several passes`() throws {
        let id = try buy { $0.expiresDate = clock.milliseconds + 60_000 }
        try state.set(SubscriptionSettings(renewsByItself: true), of: id)
        clock.advance(by: 86_400)
        state.passTime()
        let now = clock.milliseconds
        #expect(state.withContent { $0.world.nextDate }.map { $0 <= now } == true)
        while state.withContent({ $0.world.nextDate }).map({ $0 <= now }) ?? false { state.passTime() }
        #expect(events().filter { $0 == "DID_RENEW" }.count == 1440)
        #expect(try status(id) == .active)
    }

    @Test func `things due together come in the same order each time`() throws {
        let ids = try (0..<20).map { _ in try buy() }
        for id in ids { try state.set(SubscriptionSettings(renewsByItself: true), of: id) }
        let before = state.notifications.count
        clock.advance(by: 30 * 86_400)
        state.passTime()
        let renewed = state.notifications.dropFirst(before).map { notification -> String? in
            guard case .data(let subject) = notification.draft.subject else { return nil }
            return subject.transaction?.originalTransactionId
        }
        #expect(renewed == ids.sorted())
    }
}
