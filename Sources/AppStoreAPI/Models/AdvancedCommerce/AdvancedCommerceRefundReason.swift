/// Why a purchase is refunded.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/refundreason
package struct AdvancedCommerceRefundReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let unintendedPurchase = AdvancedCommerceRefundReason(rawValue: "UNINTENDED_PURCHASE")
    package static let fulfillmentIssue = AdvancedCommerceRefundReason(rawValue: "FULFILLMENT_ISSUE")
    package static let unsatisfiedWithPurchase = AdvancedCommerceRefundReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
    package static let legal = AdvancedCommerceRefundReason(rawValue: "LEGAL")
    package static let other = AdvancedCommerceRefundReason(rawValue: "OTHER")
    package static let modifyItemsRefund = AdvancedCommerceRefundReason(rawValue: "MODIFY_ITEMS_REFUND")
    package static let simulateRefundDecline = AdvancedCommerceRefundReason(rawValue: "SIMULATE_REFUND_DECLINE")

    package static let known = [
        unintendedPurchase, fulfillmentIssue, unsatisfiedWithPurchase, legal, other, modifyItemsRefund,
        simulateRefundDecline,
    ]
}
