package import JSON

/// What a one-time charge is for.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/onetimechargeitem
package struct AdvancedCommerceOneTimeChargeItem: WireModel {
    /// At most 45 characters; the customer does not see it.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    /// In milliunits of the currency.
    package var price: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceOneTimeChargeItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
        .init("price", \.price, isRequired: true),
    ]
}
