package import JSON

/// The body of Cancel Subscription, which turns renewal off.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptioncancelrequest
package struct AdvancedCommerceSubscriptionCancelRequest: WireModel {
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionCancelRequest>] = [
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}
