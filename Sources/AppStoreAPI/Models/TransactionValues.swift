// The values that a transaction's fields take: where, what, how and for which offer it was bought, and how it was taken
// back.

/// The server environment that a transaction belongs to.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/environment
package struct Environment: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let production = Environment(rawValue: "Production")
    package static let sandbox = Environment(rawValue: "Sandbox")
    /// Local testing in Xcode: not signed by the App Store.
    package static let xcode = Environment(rawValue: "Xcode")
    /// Unit tests of Apple's libraries: not signed at all.
    package static let localTesting = Environment(rawValue: "LocalTesting")

    package static let known = [production, sandbox, xcode, localTesting]
}

/// The kind of product that was bought, in a transaction's `type`.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/type
package struct ProductType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
    package static let nonConsumable = ProductType(rawValue: "Non-Consumable")
    package static let consumable = ProductType(rawValue: "Consumable")
    package static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")

    package static let known = [autoRenewableSubscription, nonConsumable, consumable, nonRenewingSubscription]
}

/// How the customer came to have the purchase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype
package struct InAppOwnershipType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchased = InAppOwnershipType(rawValue: "PURCHASED")
    /// Through Family Sharing; somebody else in the family bought it.
    package static let familyShared = InAppOwnershipType(rawValue: "FAMILY_SHARED")

    package static let known = [purchased, familyShared]
}

/// Whether the customer bought or the system renewed.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/transactionreason
package struct TransactionReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchase = TransactionReason(rawValue: "PURCHASE")
    package static let renewal = TransactionReason(rawValue: "RENEWAL")

    package static let known = [purchase, renewal]
}

/// The kind of offer that the purchase used.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/offertype
package struct OfferType: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// The only one without an `offerIdentifier`.
    package static let introductoryOffer = OfferType(rawValue: 1)
    package static let promotionalOffer = OfferType(rawValue: 2)
    package static let offerCode = OfferType(rawValue: 3)
    package static let winBackOffer = OfferType(rawValue: 4)

    package static let known = [introductoryOffer, promotionalOffer, offerCode, winBackOffer]
}

/// How an offer is paid.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/offerdiscounttype
package struct OfferDiscountType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
    package static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
    package static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
    package static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")

    package static let known = [freeTrial, payAsYouGo, payUpFront, oneTime]
}

/// How a subscription is billed.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/billingplantype
package struct BillingPlanType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let billedUpfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
    /// Each month of a commitment of twelve.
    package static let monthly = BillingPlanType(rawValue: "MONTHLY")

    package static let known = [billedUpfront, monthly]
}

/// Why a purchase was refunded or revoked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/revocationreason
package struct RevocationReason: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Any other reason; also when a Family Sharing access ended.
    package static let otherReason = RevocationReason(rawValue: 0)
    /// An actual or perceived issue within the app.
    package static let issue = RevocationReason(rawValue: 1)

    package static let known = [otherReason, issue]
}

/// What a revocation took back.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/revocationtype
package struct RevocationType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let refundFull = RevocationType(rawValue: "REFUND_FULL")
    /// A part; `revocationPercentage` says how much.
    package static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
    /// Access through Family Sharing, without a refund.
    package static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")

    package static let known = [refundFull, refundProrated, familyRevoke]
}
