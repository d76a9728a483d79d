package import JSON

/// One item of the first renewal of a migrated subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmigraterenewalitem
package struct AdvancedCommerceSubscriptionMigrateRenewalItem: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionMigrateRenewalItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
    ]
}
