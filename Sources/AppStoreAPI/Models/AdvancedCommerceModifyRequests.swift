// What an app passes to StoreKit, signed by its server, to modify or reactivate a subscription of the Advanced Commerce
// API.

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
    package var additional: [UntrustedText: JSONValue] = [:]

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

/// How a subscription will be named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifydescriptors
package struct AdvancedCommerceSubscriptionModifyDescriptors: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var effective: AdvancedCommerceEffective?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyDescriptors>] = [
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("effective", \.effective, isRequired: true),
    ]
}

/// The period that a subscription changes to.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifyperiodchange
package struct AdvancedCommerceSubscriptionModifyPeriodChange: WireModel {
    package var effective: AdvancedCommerceEffective?
    package var period: AdvancedCommercePeriod?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyPeriodChange>] = [
        .init("effective", \.effective, isRequired: true),
        .init("period", \.period, isRequired: true),
    ]
}

/// One item to add to a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifyadditem
package struct AdvancedCommerceSubscriptionModifyAddItem: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    /// In milliunits of the currency, for the rest of the present period.
    package var proratedPrice: Int64?
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyAddItem>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("offer", \.offer),
        .init("price", \.price, isRequired: true),
        .init("proratedPrice", \.proratedPrice),
        .init("SKU", \.sku, isRequired: true),
    ]
}

/// One item of a subscription that changes.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifychangeitem
package struct AdvancedCommerceSubscriptionModifyChangeItem: WireModel {
    /// What the item is sold as at present.
    package var currentSKU: String?
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var effective: AdvancedCommerceEffective?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    /// In milliunits of the currency, for the rest of the present period.
    package var proratedPrice: Int64?
    package var reason: AdvancedCommerceReason?
    /// What the item will be sold as; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyChangeItem>] = [
        .init("currentSKU", \.currentSKU, isRequired: true),
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
        .init("effective", \.effective, isRequired: true),
        .init("offer", \.offer),
        .init("price", \.price, isRequired: true),
        .init("proratedPrice", \.proratedPrice),
        .init("reason", \.reason, isRequired: true),
        .init("SKU", \.sku, isRequired: true),
    ]
}

/// One item to take out of a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionmodifyremoveitem
package struct AdvancedCommerceSubscriptionModifyRemoveItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionModifyRemoveItem>] = [
        .init("SKU", \.sku, isRequired: true)
    ]
}

/// What an app passes to StoreKit, signed, to turn renewal on again.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionreactivateinapprequest
package struct AdvancedCommerceSubscriptionReactivateInAppRequest: WireModel {
    /// At least one, if any are given.
    package var items: [AdvancedCommerceSubscriptionReactivateItem]?
    /// `REACTIVATE_SUBSCRIPTION`.
    package var operation: String?
    package var requestInfo: AdvancedCommerceRequestInfo?
    /// An ISO 3166-1 alpha-3 country code.
    package var storefront: String?
    package var transactionId: String?
    /// `1`.
    package var version: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionReactivateInAppRequest>] = [
        .init("items", \.items),
        .init("operation", \.operation, isRequired: true),
        .init("requestInfo", \.requestInfo, isRequired: true),
        .init("storefront", \.storefront),
        .init("transactionId", \.transactionId, isRequired: true),
        .init("version", \.version, isRequired: true),
    ]
}

/// One item to go on with.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/subscriptionreactivateitem
package struct AdvancedCommerceSubscriptionReactivateItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceSubscriptionReactivateItem>] = [
        .init("SKU", \.sku, isRequired: true)
    ]
}
