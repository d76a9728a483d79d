/// What a notification is about in more detail; only some types have any.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/subtype
package struct Subtype: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let initialBuy = Subtype(rawValue: "INITIAL_BUY")
    package static let resubscribe = Subtype(rawValue: "RESUBSCRIBE")
    package static let downgrade = Subtype(rawValue: "DOWNGRADE")
    package static let upgrade = Subtype(rawValue: "UPGRADE")
    package static let autoRenewEnabled = Subtype(rawValue: "AUTO_RENEW_ENABLED")
    package static let autoRenewDisabled = Subtype(rawValue: "AUTO_RENEW_DISABLED")
    package static let voluntary = Subtype(rawValue: "VOLUNTARY")
    package static let billingRetry = Subtype(rawValue: "BILLING_RETRY")
    package static let priceIncrease = Subtype(rawValue: "PRICE_INCREASE")
    package static let gracePeriod = Subtype(rawValue: "GRACE_PERIOD")
    package static let pending = Subtype(rawValue: "PENDING")
    package static let accepted = Subtype(rawValue: "ACCEPTED")
    package static let billingRecovery = Subtype(rawValue: "BILLING_RECOVERY")
    package static let productNotForSale = Subtype(rawValue: "PRODUCT_NOT_FOR_SALE")
    /// A mass extension has finished.
    package static let summary = Subtype(rawValue: "SUMMARY")
    /// A mass extension left out one subscription.
    package static let failure = Subtype(rawValue: "FAILURE")
    /// An external purchase token that has not been reported.
    package static let unreported = Subtype(rawValue: "UNREPORTED")

    package static let known = [
        initialBuy, resubscribe, downgrade, upgrade, autoRenewEnabled, autoRenewDisabled, voluntary, billingRetry,
        priceIncrease, gracePeriod, pending, accepted, billingRecovery, productNotForSale, summary, failure, unreported,
    ]
}
