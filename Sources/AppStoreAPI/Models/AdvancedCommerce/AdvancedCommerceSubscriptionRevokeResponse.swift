package import JSON

/// The answer of Revoke Subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionrevokeresponse
package struct AdvancedCommerceSubscriptionRevokeResponse: WireModel {
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionRevokeResponse>] = [
        .init("signedRenewalInfo", \.signedRenewalInfo, isRequired: true),
        .init("signedTransactionInfo", \.signedTransactionInfo, isRequired: true),
    ]
}
