package import JSON

/// The body of Change Subscription Price.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionpricechangerequest
package struct AdvancedCommerceSubscriptionPriceChangeRequest: WireModel {
    /// An ISO 4217 alpha-3 code.
    package var currency: String?
    /// At least one.
    package var items: [AdvancedCommerceSubscriptionPriceChangeItem]?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionPriceChangeRequest>] = [
        .init("currency", \.currency),
        .init("items", \.items, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}
