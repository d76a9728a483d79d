package import JSON

/// The period that a subscription changes to.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifyperiodchange
package struct AdvancedCommerceSubscriptionModifyPeriodChange: WireModel {
    package var effective: AdvancedCommerceEffective?
    package var period: AdvancedCommercePeriod?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyPeriodChange>] = [
        .init("effective", \.effective, isRequired: true),
        .init("period", \.period, isRequired: true),
    ]
}
