package import JSON

/// What an app passes to StoreKit, signed, to sell a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptioncreaterequest
package struct AdvancedCommerceSubscriptionCreateRequest: WireModel {
    /// An ISO 4217 alpha-3 code.
    package var currency: String?
    package var descriptors: AdvancedCommerceDescriptors?
    /// At least one.
    package var items: [AdvancedCommerceSubscriptionCreateItem]?
    /// `CREATE_SUBSCRIPTION`.
    package var operation: String?
    package var period: AdvancedCommercePeriod?
    package var previousTransactionId: String?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var taxCode: String?
    /// `1`.
    package var version: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionCreateRequest>] = [
        .init("currency", \.currency, isRequired: true),
        .init("descriptors", \.descriptors, isRequired: true),
        .init("items", \.items, isRequired: true),
        .init("operation", \.operation, isRequired: true),
        .init("period", \.period, isRequired: true),
        .init("previousTransactionId", \.previousTransactionId),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
        .init("taxCode", \.taxCode, isRequired: true),
        .init("version", \.version, isRequired: true),
    ]
}
