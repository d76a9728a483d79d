package import JSON

/// The answer of Migrate Subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmigrateresponse
package struct AdvancedCommerceSubscriptionMigrateResponse: WireModel {
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionMigrateResponse>] = [
        .init("signedRenewalInfo", \.signedRenewalInfo, isRequired: true),
        .init("signedTransactionInfo", \.signedTransactionInfo, isRequired: true),
    ]
}
