package import JSON

/// One item to refund.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestrefunditem
package struct AdvancedCommerceRequestRefundItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    /// In milliunits of the currency.
    package var refundAmount: Int32?
    package var refundReason: AdvancedCommerceRefundReason?
    package var refundType: AdvancedCommerceRefundType?
    /// Whether the customer loses access.
    package var revoke: Bool?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestRefundItem>] = [
        .init("SKU", \.sku, isRequired: true),
        .init("refundAmount", \.refundAmount),
        .init("refundReason", \.refundReason, isRequired: true),
        .init("refundType", \.refundType, isRequired: true),
        .init("revoke", \.revoke, isRequired: true),
    ]
}
