package import JSON

/// One item of a subscription that changes.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifychangeitem
package struct AdvancedCommerceSubscriptionModifyChangeItem: WireModel {
    /// What the item is sold as at present.
    package var currentSKU: String?
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var effective: AdvancedCommerceEffective?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    /// In milliunits of the currency, for the rest of the present period.
    package var proratedPrice: Int64?
    package var reason: AdvancedCommerceReason?
    /// What the item will be sold as; at most 128 characters.
    package var sku: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyChangeItem>] = [
        .init("currentSKU", \.currentSKU, isRequired: true),
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("effective", \.effective, isRequired: true),
        .init("offer", \.offer),
        .init("price", \.price, isRequired: true),
        .init("proratedPrice", \.proratedPrice),
        .init("reason", \.reason, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
    ]
}
