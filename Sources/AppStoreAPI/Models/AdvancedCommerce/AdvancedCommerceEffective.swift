/// When a change applies.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/effective
package struct AdvancedCommerceEffective: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let immediately = AdvancedCommerceEffective(rawValue: "IMMEDIATELY")
    package static let nextBillCycle = AdvancedCommerceEffective(rawValue: "NEXT_BILL_CYCLE")

    package static let known = [immediately, nextBillCycle]
}
