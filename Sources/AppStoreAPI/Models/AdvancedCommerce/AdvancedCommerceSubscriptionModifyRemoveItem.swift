package import JSON

/// One item to take out of a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifyremoveitem
package struct AdvancedCommerceSubscriptionModifyRemoveItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyRemoveItem>] = [
        .init("SKU", \.sku, isRequired: true)
    ]
}
