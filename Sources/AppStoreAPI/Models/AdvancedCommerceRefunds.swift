// The bodies of the Advanced Commerce API's calls that give back or end a purchase: refund, revoke, cancel.

package import JSON

/// The body of Request Refund.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestrefundrequest
package struct AdvancedCommerceRequestRefundRequest: WireModel {
    /// An ISO 4217 alpha-3 code: the transaction's.
    package var currency: String?
    /// At least one.
    package var items: [AdvancedCommerceRequestRefundItem]?
    package var refundRiskingPreference: Bool?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestRefundRequest>] = [
        .init("currency", \.currency),
        .init("items", \.items, isRequired: true),
        .init("refundRiskingPreference", \.refundRiskingPreference, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}

/// One item to refund.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestrefunditem
package struct AdvancedCommerceRequestRefundItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    /// In milliunits of the currency.
    package var refundAmount: Int32?
    package var refundReason: AdvancedCommerceRefundReason?
    package var refundType: AdvancedCommerceRefundType?
    /// Whether the customer loses access.
    package var revoke: Bool?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestRefundItem>] = [
        .init("SKU", \.sku, isRequired: true),
        .init("refundAmount", \.refundAmount),
        .init("refundReason", \.refundReason, isRequired: true),
        .init("refundType", \.refundType, isRequired: true),
        .init("revoke", \.revoke, isRequired: true),
    ]
}

/// The answer of Request Refund, and of every other server call of this API: Apple documents a type for each, all with
/// these two members.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestrefundresponse
package struct AdvancedCommerceRequestRefundResponse: WireModel {
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestRefundResponse>] = [
        .init("signedRenewalInfo", \.signedRenewalInfo),
        .init("signedTransactionInfo", \.signedTransactionInfo, isRequired: true),
    ]
}

/// The body of Revoke Subscription, which ends a subscription with all its items at once.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionrevokerequest
package struct AdvancedCommerceSubscriptionRevokeRequest: WireModel {
    package var refundReason: AdvancedCommerceRefundReason?
    package var refundRiskingPreference: Bool?
    package var refundType: AdvancedCommerceRefundType?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionRevokeRequest>] = [
        .init("refundReason", \.refundReason, isRequired: true),
        .init("refundRiskingPreference", \.refundRiskingPreference, isRequired: true),
        .init("refundType", \.refundType, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}

/// The body of Cancel Subscription, which turns renewal off.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptioncancelrequest
package struct AdvancedCommerceSubscriptionCancelRequest: WireModel {
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionCancelRequest>] = [
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}
