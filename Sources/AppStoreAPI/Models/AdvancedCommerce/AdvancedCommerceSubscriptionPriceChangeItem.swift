package import JSON

/// One item that gets another price.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionpricechangeitem
package struct AdvancedCommerceSubscriptionPriceChangeItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    /// In milliunits of the currency.
    package var price: Int64?
    /// Items whose prices change together with this one's; at most 128 characters each.
    package var dependentSKUs: [String]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionPriceChangeItem>] = [
        .init("SKU", \.sku, isRequired: true),
        .init("price", \.price, isRequired: true),
        .init("dependentSKUs", \.dependentSKUs),
    ]
}
