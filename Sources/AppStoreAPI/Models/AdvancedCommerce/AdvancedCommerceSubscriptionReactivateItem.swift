package import JSON

/// One item to go on with.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionreactivateitem
package struct AdvancedCommerceSubscriptionReactivateItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionReactivateItem>] = [
        .init("SKU", \.sku, isRequired: true)
    ]
}
