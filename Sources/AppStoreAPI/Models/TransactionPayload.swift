package import JSON

/// The payload of a signed transaction (`JWSTransactionDecodedPayload`), by Apple's names.
///
/// Dates are UNIX milliseconds. Any field can be missing.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
package struct TransactionPayload: WireModel {
    package var transactionId: String?
    /// The first transaction of the purchase; stays the same over renewals and restores.
    package var originalTransactionId: String?
    /// One purchase event of an auto-renewable subscription.
    package var webOrderLineItemId: String?
    package var bundleId: String?
    package var productId: String?
    package var subscriptionGroupIdentifier: String?
    package var purchaseDate: Int64?
    package var originalPurchaseDate: Int64?
    package var expiresDate: Int64?
    package var quantity: Int32?
    package var type: ProductType?
    /// The UUID by which the app ties the purchase to a user of its own.
    package var appAccountToken: String?
    package var inAppOwnershipType: InAppOwnershipType?
    package var signedDate: Int64?
    package var revocationReason: RevocationReason?
    package var revocationDate: Int64?
    package var revocationType: RevocationType?
    /// In milliunits: 100,000 is 100 %.
    package var revocationPercentage: Int32?
    package var isUpgraded: Bool?
    package var offerType: OfferType?
    package var offerIdentifier: String?
    package var offerDiscountType: OfferDiscountType?
    /// An ISO 8601 duration.
    package var offerPeriod: String?
    package var environment: Environment?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var storefrontId: String?
    package var transactionReason: TransactionReason?
    /// An ISO 4217 alpha-3 code.
    package var currency: String?
    /// In milliunits of the currency, for the whole quantity.
    package var price: Int64?
    /// The app's download: fixed for an Apple Account, or member of a family, and an app.
    package var appTransactionId: String?
    package var billingPlanType: BillingPlanType?
    /// Only in purchases made through the Advanced Commerce API.
    package var advancedCommerceInfo: AdvancedCommerceTransactionInfo?
    /// Only of subscriptions with a commitment.
    package var commitmentInfo: TransactionCommitmentInfo?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<TransactionPayload>] = [
        .init("transactionId", \.transactionId),
        .init("originalTransactionId", \.originalTransactionId),
        .init("webOrderLineItemId", \.webOrderLineItemId),
        .init("bundleId", \.bundleId),
        .init("productId", \.productId),
        .init("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier),
        .init("purchaseDate", \.purchaseDate),
        .init("originalPurchaseDate", \.originalPurchaseDate),
        .init("expiresDate", \.expiresDate),
        .init("quantity", \.quantity),
        .init("type", \.type),
        .init("appAccountToken", \.appAccountToken),
        .init("inAppOwnershipType", \.inAppOwnershipType),
        .init("signedDate", \.signedDate),
        .init("revocationReason", \.revocationReason),
        .init("revocationDate", \.revocationDate),
        .init("revocationType", \.revocationType),
        .init("revocationPercentage", \.revocationPercentage),
        .init("isUpgraded", \.isUpgraded),
        .init("offerType", \.offerType),
        .init("offerIdentifier", \.offerIdentifier),
        .init("offerDiscountType", \.offerDiscountType),
        .init("offerPeriod", \.offerPeriod),
        .init("environment", \.environment),
        .init("storefront", \.storefront),
        .init("storefrontId", \.storefrontId),
        .init("transactionReason", \.transactionReason),
        .init("currency", \.currency),
        .init("price", \.price),
        .init("appTransactionId", \.appTransactionId),
        .init("billingPlanType", \.billingPlanType),
        .init("advancedCommerceInfo", \.advancedCommerceInfo),
        .init("commitmentInfo", \.commitmentInfo),
    ]
}

/// Where in a commitment a billing period of a subscription stands.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo
package struct TransactionCommitmentInfo: WireModel {
    /// 1 to 12.
    package var billingPeriodNumber: Int32?
    /// UNIX milliseconds.
    package var commitmentExpiresDate: Int64?
    /// In milliunits of the currency.
    package var commitmentPrice: Int64?
    package var totalBillingPeriods: Int32?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<TransactionCommitmentInfo>] = [
        .init("billingPeriodNumber", \.billingPeriodNumber),
        .init("commitmentExpiresDate", \.commitmentExpiresDate),
        .init("commitmentPrice", \.commitmentPrice),
        .init("totalBillingPeriods", \.totalBillingPeriods),
    ]
}
