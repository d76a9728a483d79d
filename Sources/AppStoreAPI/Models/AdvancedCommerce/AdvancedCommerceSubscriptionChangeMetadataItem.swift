package import JSON

/// How an item of a subscription will be named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionchangemetadataitem
package struct AdvancedCommerceSubscriptionChangeMetadataItem: WireModel {
    /// What the item is sold as at present.
    package var currentSKU: String?
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var effective: AdvancedCommerceEffective?
    /// What the item will be sold as; at most 128 characters.
    package var sku: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionChangeMetadataItem>] = [
        .init("currentSKU", \.currentSKU, isRequired: true),
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("effective", \.effective, isRequired: true),
        .init("SKU", \.sku),
    ]
}
