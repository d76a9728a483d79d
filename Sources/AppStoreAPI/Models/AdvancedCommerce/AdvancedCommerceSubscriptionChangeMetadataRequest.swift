package import JSON

/// The body of Change Subscription Metadata.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionchangemetadatarequest
package struct AdvancedCommerceSubscriptionChangeMetadataRequest: WireModel {
    package var descriptors: AdvancedCommerceSubscriptionChangeMetadataDescriptors?
    /// At least one, if any are given.
    package var items: [AdvancedCommerceSubscriptionChangeMetadataItem]?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var taxCode: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionChangeMetadataRequest>] = [
        .init("descriptors", \.descriptors),
        .init("items", \.items),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
        .init("taxCode", \.taxCode),
    ]
}
