package import JSON

/// One refund of an item.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercerefund
package struct AdvancedCommerceRefund: WireModel {
    /// In milliunits of the currency.
    package var refundAmount: Int64?
    /// UNIX milliseconds.
    package var refundDate: Int64?
    package var refundReason: AdvancedCommerceRefundReason?
    package var refundType: AdvancedCommerceRefundType?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRefund>] = [
        .init("refundAmount", \.refundAmount),
        .init("refundDate", \.refundDate),
        .init("refundReason", \.refundReason),
        .init("refundType", \.refundType),
    ]
}
