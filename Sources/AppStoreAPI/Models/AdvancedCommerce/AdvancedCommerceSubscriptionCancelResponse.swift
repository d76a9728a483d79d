package import JSON

/// The answer of Cancel Subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptioncancelresponse
package struct AdvancedCommerceSubscriptionCancelResponse: WireModel {
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionCancelResponse>] = [
        .init("signedRenewalInfo", \.signedRenewalInfo, isRequired: true),
        .init("signedTransactionInfo", \.signedTransactionInfo, isRequired: true),
    ]
}
