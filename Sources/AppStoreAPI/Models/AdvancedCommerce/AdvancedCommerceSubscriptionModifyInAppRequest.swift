package import JSON

/// What an app passes to StoreKit, signed, to change a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifyinapprequest
package struct AdvancedCommerceSubscriptionModifyInAppRequest: WireModel {
    /// At least one, if any are given.
    package var addItems: [AdvancedCommerceSubscriptionModifyAddItem]?
    /// At least one, if any are given.
    package var changeItems: [AdvancedCommerceSubscriptionModifyChangeItem]?
    /// An ISO 4217 alpha-3 code.
    package var currency: String?
    package var descriptors: AdvancedCommerceSubscriptionModifyDescriptors?
    /// `MODIFY_SUBSCRIPTION`.
    package var operation: String?
    package var periodChange: AdvancedCommerceSubscriptionModifyPeriodChange?
    /// At least one, if any are given.
    package var removeItems: [AdvancedCommerceSubscriptionModifyRemoveItem]?
    package var requestInfo: AdvancedCommerceRequestInfo?
    package var retainBillingCycle: Bool?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var taxCode: String?
    package var transactionId: String?
    /// `1`.
    package var version: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyInAppRequest>] = [
        .init("addItems", \.addItems),
        .init("changeItems", \.changeItems),
        .init("currency", \.currency),
        .init("descriptors", \.descriptors),
        .init("operation", \.operation, isRequired: true),
        .init("periodChange", \.periodChange),
        .init("removeItems", \.removeItems),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("retainBillingCycle", \.retainBillingCycle, isRequired: true),
        .init("storefront", \.storefront),
        .init("taxCode", \.taxCode),
        .init("transactionId", \.transactionId, isRequired: true),
        .init("version", \.version, isRequired: true),
    ]
}
