package import JSON

/// One item to add to a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifyadditem
package struct AdvancedCommerceSubscriptionModifyAddItem: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    /// In milliunits of the currency, for the rest of the present period.
    package var proratedPrice: Int64?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyAddItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("offer", \.offer),
        .init("price", \.price, isRequired: true),
        .init("proratedPrice", \.proratedPrice),
        .init("SKU", \.sku, isRequired: true),
    ]
}
