package import JSON

/// One item of the next renewal.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercerenewalitem
package struct AdvancedCommerceRenewalItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var description: String?
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    package var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRenewalItem>] = [
        .init("SKU", \.sku),
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("offer", \.offer),
        .init("price", \.price),
        .init("priceIncreaseInfo", \.priceIncreaseInfo),
    ]
}
