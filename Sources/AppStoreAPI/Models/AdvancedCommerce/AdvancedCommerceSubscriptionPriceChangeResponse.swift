package import JSON

/// The answer of Change Subscription Price.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionpricechangeresponse
package struct AdvancedCommerceSubscriptionPriceChangeResponse: WireModel {
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionPriceChangeResponse>] = [
        .init("signedRenewalInfo", \.signedRenewalInfo, isRequired: true),
        .init("signedTransactionInfo", \.signedTransactionInfo, isRequired: true),
    ]
}
