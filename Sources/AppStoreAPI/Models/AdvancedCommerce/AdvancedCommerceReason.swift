/// Why an item of a subscription changes.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/reason
package struct AdvancedCommerceReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let upgrade = AdvancedCommerceReason(rawValue: "UPGRADE")
    package static let downgrade = AdvancedCommerceReason(rawValue: "DOWNGRADE")
    package static let applyOffer = AdvancedCommerceReason(rawValue: "APPLY_OFFER")

    package static let known = [upgrade, downgrade, applyOffer]
}
