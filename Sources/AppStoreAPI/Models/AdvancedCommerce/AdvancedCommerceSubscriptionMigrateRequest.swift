package import JSON

/// The body of Migrate Subscription, which takes a subscription from In-App Purchase to Advanced Commerce.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmigraterequest
package struct AdvancedCommerceSubscriptionMigrateRequest: WireModel {
    package var descriptors: AdvancedCommerceSubscriptionMigrateDescriptors?
    /// At least one.
    package var items: [AdvancedCommerceSubscriptionMigrateItem]?
    /// What is renewed, if that is not `items`; at least one, if any are given.
    package var renewalItems: [AdvancedCommerceSubscriptionMigrateRenewalItem]?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    /// The company's generic subscription.
    package var targetProductId: String?
    package var taxCode: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionMigrateRequest>] = [
        .init("descriptors", \.descriptors, isRequired: true),
        .init("items", \.items, isRequired: true),
        .init("renewalItems", \.renewalItems),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
        .init("targetProductId", \.targetProductId, isRequired: true),
        .init("taxCode", \.taxCode, isRequired: true),
    ]
}
