package import JSON

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
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionRevokeRequest>] = [
        .init("refundReason", \.refundReason, isRequired: true),
        .init("refundRiskingPreference", \.refundRiskingPreference, isRequired: true),
        .init("refundType", \.refundType, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}
