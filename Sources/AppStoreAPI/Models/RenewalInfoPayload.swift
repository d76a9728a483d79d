package import JSON

/// The payload of signed renewal information (`JWSRenewalInfoDecodedPayload`): what happens at the end of the present
/// period.
///
/// Dates are UNIX milliseconds. Any field can be missing.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
package struct RenewalInfoPayload: WireModel {
    package var expirationIntent: ExpirationIntent?
    package var originalTransactionId: String?
    /// What the next period will be of; another than `productId` after a downgrade.
    package var autoRenewProductId: String?
    package var productId: String?
    package var autoRenewStatus: AutoRenewStatus?
    /// Whether Apple still tries to charge the customer.
    package var isInBillingRetryPeriod: Bool?
    package var priceIncreaseStatus: PriceIncreaseStatus?
    /// Until when access continues although the charge failed.
    package var gracePeriodExpiresDate: Int64?
    /// Of the offer that the next period will use.
    package var offerType: OfferType?
    package var offerIdentifier: String?
    package var signedDate: Int64?
    package var environment: Environment?
    /// The start of the present run of subscriptions without a gap of more than 60 days (10 minutes in the sandbox).
    package var recentSubscriptionStartDate: Int64?
    /// When the latest purchase expires; may be past.
    package var renewalDate: Int64?
    /// An ISO 4217 alpha-3 code, of `renewalPrice`.
    package var currency: String?
    /// In milliunits of the currency, with the offer's discount.
    package var renewalPrice: Int64?
    package var offerDiscountType: OfferDiscountType?
    /// The best offer first.
    package var eligibleWinBackOfferIds: [String]?
    /// The UUID by which the app ties the purchase to a user of its own.
    package var appAccountToken: String?
    /// The app's download: fixed for an Apple Account, or member of a family, and an app.
    package var appTransactionId: String?
    /// An ISO 8601 duration.
    package var offerPeriod: String?
    /// Only of subscriptions sold through the Advanced Commerce API.
    package var advancedCommerceInfo: AdvancedCommerceRenewalInfo?
    /// Only of subscriptions with a commitment.
    package var commitmentInfo: RenewalCommitmentInfo?
    package var renewalBillingPlanType: RenewalBillingPlanType?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RenewalInfoPayload>] = [
        .init("expirationIntent", \.expirationIntent),
        .init("originalTransactionId", \.originalTransactionId),
        .init("autoRenewProductId", \.autoRenewProductId),
        .init("productId", \.productId),
        .init("autoRenewStatus", \.autoRenewStatus),
        .init("isInBillingRetryPeriod", \.isInBillingRetryPeriod),
        .init("priceIncreaseStatus", \.priceIncreaseStatus),
        .init("gracePeriodExpiresDate", \.gracePeriodExpiresDate),
        .init("offerType", \.offerType),
        .init("offerIdentifier", \.offerIdentifier),
        .init("signedDate", \.signedDate),
        .init("environment", \.environment),
        .init("recentSubscriptionStartDate", \.recentSubscriptionStartDate),
        .init("renewalDate", \.renewalDate),
        .init("currency", \.currency),
        .init("renewalPrice", \.renewalPrice),
        .init("offerDiscountType", \.offerDiscountType),
        .init("eligibleWinBackOfferIds", \.eligibleWinBackOfferIds),
        .init("appAccountToken", \.appAccountToken),
        .init("appTransactionId", \.appTransactionId),
        .init("offerPeriod", \.offerPeriod),
        .init("advancedCommerceInfo", \.advancedCommerceInfo),
        .init("commitmentInfo", \.commitmentInfo),
        .init("renewalBillingPlanType", \.renewalBillingPlanType),
    ]
}

/// What happens at the end of a commitment, in renewal information.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/renewalcommitmentinfo
package struct RenewalCommitmentInfo: WireModel {
    package var commitmentAutoRenewProductId: String?
    package var commitmentAutoRenewStatus: AutoRenewStatus?
    package var commitmentRenewalBillingPlanType: RenewalBillingPlanType?
    /// UNIX milliseconds.
    package var commitmentRenewalDate: Int64?
    /// In milliunits of the currency.
    package var commitmentRenewalPrice: Int64?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RenewalCommitmentInfo>] = [
        .init("commitmentAutoRenewProductId", \.commitmentAutoRenewProductId),
        .init("commitmentAutoRenewStatus", \.commitmentAutoRenewStatus),
        .init("commitmentRenewalBillingPlanType", \.commitmentRenewalBillingPlanType),
        .init("commitmentRenewalDate", \.commitmentRenewalDate),
        .init("commitmentRenewalPrice", \.commitmentRenewalPrice),
    ]
}

/// Whether a subscription will renew by itself.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/autorenewstatus
package struct AutoRenewStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let off = AutoRenewStatus(rawValue: 0)
    package static let on = AutoRenewStatus(rawValue: 1)

    package static let known = [off, on]
}

/// How a subscription will be billed after its next renewal.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/renewalbillingplantype
package struct RenewalBillingPlanType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let billedUpfront = RenewalBillingPlanType(rawValue: "BILLED_UPFRONT")
    /// Each month of a commitment of twelve.
    package static let monthly = RenewalBillingPlanType(rawValue: "MONTHLY")

    package static let known = [billedUpfront, monthly]
}

/// Why a subscription expired.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/expirationintent
package struct ExpirationIntent: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let customerCancelled = ExpirationIntent(rawValue: 1)
    package static let billingError = ExpirationIntent(rawValue: 2)
    package static let customerDidNotConsentToPriceIncrease = ExpirationIntent(rawValue: 3)
    package static let productNotAvailable = ExpirationIntent(rawValue: 4)
    package static let other = ExpirationIntent(rawValue: 5)

    package static let known = [
        customerCancelled, billingError, customerDidNotConsentToPriceIncrease, productNotAvailable, other,
    ]
}

/// Whether the customer accepts a price increase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/priceincreasestatus
package struct PriceIncreaseStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let customerHasNotResponded = PriceIncreaseStatus(rawValue: 0)
    /// Also where a notice is enough and no consent is needed.
    package static let customerConsentedOrWasNotified = PriceIncreaseStatus(rawValue: 1)

    package static let known = [customerHasNotResponded, customerConsentedOrWasNotified]
}
