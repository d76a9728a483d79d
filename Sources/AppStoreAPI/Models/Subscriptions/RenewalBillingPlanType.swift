/// How a subscription will be billed after its next renewal.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/renewalbillingplantype
package struct RenewalBillingPlanType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let billedUpfront = RenewalBillingPlanType(rawValue: "BILLED_UPFRONT")
    /// Each month of a commitment of twelve.
    package static let monthly = RenewalBillingPlanType(rawValue: "MONTHLY")

    package static let known = [billedUpfront, monthly]
}
