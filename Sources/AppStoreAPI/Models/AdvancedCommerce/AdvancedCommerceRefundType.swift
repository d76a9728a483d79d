/// How much of a price is refunded.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/refundtype
package struct AdvancedCommerceRefundType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let full = AdvancedCommerceRefundType(rawValue: "FULL")
    package static let prorated = AdvancedCommerceRefundType(rawValue: "PRORATED")
    /// As much as the request says.
    package static let custom = AdvancedCommerceRefundType(rawValue: "CUSTOM")

    package static let known = [full, prorated, custom]
}
