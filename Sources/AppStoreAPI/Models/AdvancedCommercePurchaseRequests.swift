// What an app passes to StoreKit, signed by its server, to sell through the Advanced Commerce API.

package import JSON

/// What an app passes to StoreKit, signed, to sell a one-time charge.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/onetimechargecreaterequest
package struct AdvancedCommerceOneTimeChargeCreateRequest: WireModel {
    /// An ISO 4217 alpha-3 code.
    package var currency: String?
    package var item: AdvancedCommerceOneTimeChargeItem?
    /// `CREATE_ONE_TIME_CHARGE`.
    package var operation: String?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var taxCode: String?
    /// `1`.
    package var version: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceOneTimeChargeCreateRequest>] = [
        .init("currency", \.currency, isRequired: true),
        .init("item", \.item, isRequired: true),
        .init("operation", \.operation, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
        .init("taxCode", \.taxCode, isRequired: true),
        .init("version", \.version, isRequired: true),
    ]
}

/// What a one-time charge is for.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/onetimechargeitem
package struct AdvancedCommerceOneTimeChargeItem: WireModel {
    /// At most 45 characters; the customer does not see it.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    /// In milliunits of the currency.
    package var price: Int64?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceOneTimeChargeItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
        .init("price", \.price, isRequired: true),
    ]
}

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
    package var additional: [UntrustedText: JSONValue] = [:]

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

/// One item of a new subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptioncreateitem
package struct AdvancedCommerceSubscriptionCreateItem: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionCreateItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("offer", \.offer),
        .init("price", \.price, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
    ]
}
