/// How a subscription is billed.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/billingplantype
package struct BillingPlanType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let billedUpfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
    /// Each month of a commitment of twelve.
    package static let monthly = BillingPlanType(rawValue: "MONTHLY")

    package static let known = [billedUpfront, monthly]
}
