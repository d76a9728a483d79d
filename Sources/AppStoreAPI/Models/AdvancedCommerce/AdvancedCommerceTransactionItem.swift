package import JSON

/// One item of a purchase.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercetransactionitem
package struct AdvancedCommerceTransactionItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var description: String?
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    package var refunds: [AdvancedCommerceRefund]?
    /// UNIX milliseconds.
    package var revocationDate: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceTransactionItem>] = [
        .init("SKU", \.sku),
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("offer", \.offer),
        .init("price", \.price),
        .init("refunds", \.refunds),
        .init("revocationDate", \.revocationDate),
    ]
}
