package import JSON

/// The body of Request Refund.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestrefundrequest
package struct AdvancedCommerceRequestRefundRequest: WireModel {
    /// An ISO 4217 alpha-3 code: the transaction's.
    package var currency: String?
    /// At least one.
    package var items: [AdvancedCommerceRequestRefundItem]?
    package var refundRiskingPreference: Bool?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestRefundRequest>] = [
        .init("currency", \.currency),
        .init("items", \.items, isRequired: true),
        .init("refundRiskingPreference", \.refundRiskingPreference, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}
