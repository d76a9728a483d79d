/// How far a price increase has come.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercepriceincreaseinfostatus
package struct AdvancedCommercePriceIncreaseInfoStatus: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let scheduled = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "SCHEDULED")
    /// The customer has not answered yet.
    package static let pending = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "PENDING")
    package static let accepted = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "ACCEPTED")

    package static let known = [scheduled, pending, accepted]
}
