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
