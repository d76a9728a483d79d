// The bodies of the Advanced Commerce API's calls that change a subscription: metadata, price, and the way into that
// API.

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
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionChangeMetadataRequest>] = [
        .init("descriptors", \.descriptors),
        .init("items", \.items),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
        .init("taxCode", \.taxCode),
    ]
}

/// How a subscription will be named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionchangemetadatadescriptors
package struct AdvancedCommerceSubscriptionChangeMetadataDescriptors: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var effective: AdvancedCommerceEffective?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionChangeMetadataDescriptors>] = [
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("effective", \.effective, isRequired: true),
    ]
}

/// How an item of a subscription will be named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionchangemetadataitem
package struct AdvancedCommerceSubscriptionChangeMetadataItem: WireModel {
    /// What the item is sold as at present.
    package var currentSKU: String?
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var effective: AdvancedCommerceEffective?
    /// What the item will be sold as; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionChangeMetadataItem>] = [
        .init("currentSKU", \.currentSKU, isRequired: true),
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("effective", \.effective, isRequired: true),
        .init("SKU", \.sku),
    ]
}

/// The body of Change Subscription Price.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionpricechangerequest
package struct AdvancedCommerceSubscriptionPriceChangeRequest: WireModel {
    /// An ISO 4217 alpha-3 code.
    package var currency: String?
    /// At least one.
    package var items: [AdvancedCommerceSubscriptionPriceChangeItem]?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionPriceChangeRequest>] = [
        .init("currency", \.currency),
        .init("items", \.items, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
    ]
}

/// One item that gets another price.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionpricechangeitem
package struct AdvancedCommerceSubscriptionPriceChangeItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    /// In milliunits of the currency.
    package var price: Int64?
    /// Items whose prices change together with this one's; at most 128 characters each.
    package var dependentSKUs: [String]?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionPriceChangeItem>] = [
        .init("SKU", \.sku, isRequired: true),
        .init("price", \.price, isRequired: true),
        .init("dependentSKUs", \.dependentSKUs),
    ]
}

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
    package var additional: [UntrustedText: JSONValue] = [:]

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

/// How a migrated subscription is named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmigratedescriptors
package struct AdvancedCommerceSubscriptionMigrateDescriptors: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionMigrateDescriptors>] = [
        .init("description", \.description),
        .init("displayName", \.displayName),
    ]
}

/// One item of a migrated subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmigrateitem
package struct AdvancedCommerceSubscriptionMigrateItem: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionMigrateItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
    ]
}

/// One item of the first renewal of a migrated subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmigraterenewalitem
package struct AdvancedCommerceSubscriptionMigrateRenewalItem: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionMigrateRenewalItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
    ]
}
