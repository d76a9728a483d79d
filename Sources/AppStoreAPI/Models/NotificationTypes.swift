// What App Store Server Notifications can be about.

/// What a notification is about.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
package struct NotificationTypeV2: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let subscribed = NotificationTypeV2(rawValue: "SUBSCRIBED")
    package static let didChangeRenewalPref = NotificationTypeV2(rawValue: "DID_CHANGE_RENEWAL_PREF")
    package static let didChangeRenewalStatus = NotificationTypeV2(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    package static let offerRedeemed = NotificationTypeV2(rawValue: "OFFER_REDEEMED")
    package static let didRenew = NotificationTypeV2(rawValue: "DID_RENEW")
    package static let expired = NotificationTypeV2(rawValue: "EXPIRED")
    package static let didFailToRenew = NotificationTypeV2(rawValue: "DID_FAIL_TO_RENEW")
    package static let gracePeriodExpired = NotificationTypeV2(rawValue: "GRACE_PERIOD_EXPIRED")
    package static let priceIncrease = NotificationTypeV2(rawValue: "PRICE_INCREASE")
    package static let refund = NotificationTypeV2(rawValue: "REFUND")
    package static let refundDeclined = NotificationTypeV2(rawValue: "REFUND_DECLINED")
    /// A customer wants a refund; to be answered within twelve hours.
    package static let consumptionRequest = NotificationTypeV2(rawValue: "CONSUMPTION_REQUEST")
    /// One subscription was extended.
    package static let renewalExtended = NotificationTypeV2(rawValue: "RENEWAL_EXTENDED")
    package static let revoke = NotificationTypeV2(rawValue: "REVOKE")
    package static let test = NotificationTypeV2(rawValue: "TEST")
    /// A mass extension has finished, or failed for one subscription.
    package static let renewalExtension = NotificationTypeV2(rawValue: "RENEWAL_EXTENSION")
    package static let refundReversed = NotificationTypeV2(rawValue: "REFUND_REVERSED")
    package static let externalPurchaseToken = NotificationTypeV2(rawValue: "EXTERNAL_PURCHASE_TOKEN")
    package static let oneTimeCharge = NotificationTypeV2(rawValue: "ONE_TIME_CHARGE")
    package static let rescindConsent = NotificationTypeV2(rawValue: "RESCIND_CONSENT")
    package static let metadataUpdate = NotificationTypeV2(rawValue: "METADATA_UPDATE")
    package static let migration = NotificationTypeV2(rawValue: "MIGRATION")
    package static let priceChange = NotificationTypeV2(rawValue: "PRICE_CHANGE")

    package static let known = [
        subscribed, didChangeRenewalPref, didChangeRenewalStatus, offerRedeemed, didRenew, expired, didFailToRenew,
        gracePeriodExpired, priceIncrease, refund, refundDeclined, consumptionRequest, renewalExtended, revoke, test,
        renewalExtension, refundReversed, externalPurchaseToken, oneTimeCharge, rescindConsent, metadataUpdate,
        migration, priceChange,
    ]
}

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

/// Why a customer says that they want a refund.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/consumptionrequestreason
package struct ConsumptionRequestReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
    package static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
    package static let unsatisfiedWithPurchase = ConsumptionRequestReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
    package static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
    package static let other = ConsumptionRequestReason(rawValue: "OTHER")

    package static let known = [unintendedPurchase, fulfillmentIssue, unsatisfiedWithPurchase, legal, other]
}
