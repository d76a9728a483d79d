package import JSON

/// What an app passes to StoreKit, signed, to turn renewal on again.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionreactivateinapprequest
package struct AdvancedCommerceSubscriptionReactivateInAppRequest: WireModel {
    /// At least one, if any are given.
    package var items: [AdvancedCommerceSubscriptionReactivateItem]?
    /// `REACTIVATE_SUBSCRIPTION`.
    package var operation: String?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var transactionId: String?
    /// `1`.
    package var version: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionReactivateInAppRequest>] = [
        .init("items", \.items),
        .init("operation", \.operation, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
        .init("transactionId", \.transactionId, isRequired: true),
        .init("version", \.version, isRequired: true),
    ]
}
