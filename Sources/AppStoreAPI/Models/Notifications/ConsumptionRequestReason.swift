/// Why a customer says that they want a refund.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/consumptionrequestreason
package struct ConsumptionRequestReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
    package static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
    package static let unsatisfiedWithPurchase = ConsumptionRequestReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
    package static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
    package static let other = ConsumptionRequestReason(rawValue: "OTHER")

    package static let known = [unintendedPurchase, fulfillmentIssue, unsatisfiedWithPurchase, legal, other]
}
