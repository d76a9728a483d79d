package import JSON

/// One item of a new subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptioncreateitem
package struct AdvancedCommerceSubscriptionCreateItem: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionCreateItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("offer", \.offer),
        .init("price", \.price, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
    ]
}
