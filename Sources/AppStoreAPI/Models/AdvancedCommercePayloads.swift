// What signed transactions and renewals say of purchases made through the Advanced Commerce API.

package import JSON

/// What a transaction sold through the Advanced Commerce API is of.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercetransactioninfo
package struct AdvancedCommerceTransactionInfo: WireModel {
    package var descriptors: AdvancedCommerceDescriptors?
    /// An amount of `currency` in the transaction.
    package var estimatedTax: Int64?
    package var items: [AdvancedCommerceTransactionItem]?
    /// Of a subscription.
    package var period: AdvancedCommercePeriod?
    /// The one of the request that made the purchase.
    package var requestReferenceId: String?
    package var taxCode: String?
    /// An amount of `currency` in the transaction.
    package var taxExclusivePrice: Int64?
    /// A decimal fraction such as `0.15`.
    package var taxRate: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceTransactionInfo>] = [
        .init("descriptors", \.descriptors),
        .init("estimatedTax", \.estimatedTax),
        .init("items", \.items),
        .init("period", \.period),
        .init("requestReferenceId", \.requestReferenceId),
        .init("taxCode", \.taxCode),
        .init("taxExclusivePrice", \.taxExclusivePrice),
        .init("taxRate", \.taxRate),
    ]
}

/// One item of a purchase.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercetransactionitem
package struct AdvancedCommerceTransactionItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var description: String?
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    package var refunds: [AdvancedCommerceRefund]?
    /// UNIX milliseconds.
    package var revocationDate: Int64?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceTransactionItem>] = [
        .init("SKU", \.sku),
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("offer", \.offer),
        .init("price", \.price),
        .init("refunds", \.refunds),
        .init("revocationDate", \.revocationDate),
    ]
}

/// One refund of an item.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercerefund
package struct AdvancedCommerceRefund: WireModel {
    /// In milliunits of the currency.
    package var refundAmount: Int64?
    /// UNIX milliseconds.
    package var refundDate: Int64?
    package var refundReason: AdvancedCommerceRefundReason?
    package var refundType: AdvancedCommerceRefundType?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRefund>] = [
        .init("refundAmount", \.refundAmount),
        .init("refundDate", \.refundDate),
        .init("refundReason", \.refundReason),
        .init("refundType", \.refundType),
    ]
}

/// What the next renewal of a subscription sold through the Advanced Commerce API will be of.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercerenewalinfo
package struct AdvancedCommerceRenewalInfo: WireModel {
    /// To be copied into the next request, never made up.
    package var consistencyToken: String?
    package var descriptors: AdvancedCommerceDescriptors?
    package var items: [AdvancedCommerceRenewalItem]?
    package var period: AdvancedCommercePeriod?
    /// The one of the request that changed the subscription last.
    package var requestReferenceId: String?
    package var taxCode: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRenewalInfo>] = [
        .init("consistencyToken", \.consistencyToken),
        .init("descriptors", \.descriptors),
        .init("items", \.items),
        .init("period", \.period),
        .init("requestReferenceId", \.requestReferenceId),
        .init("taxCode", \.taxCode),
    ]
}

/// One item of the next renewal.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercerenewalitem
package struct AdvancedCommerceRenewalItem: WireModel {
    /// The product in the company's own catalogue; at most 128 characters.
    package var sku: String?
    package var description: String?
    package var displayName: String?
    package var offer: AdvancedCommerceOffer?
    /// In milliunits of the currency.
    package var price: Int64?
    package var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRenewalItem>] = [
        .init("SKU", \.sku),
        .init("description", \.description),
        .init("displayName", \.displayName),
        .init("offer", \.offer),
        .init("price", \.price),
        .init("priceIncreaseInfo", \.priceIncreaseInfo),
    ]
}

/// A price increase that an item waits for.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercepriceincreaseinfo
package struct AdvancedCommercePriceIncreaseInfo: WireModel {
    /// Items whose prices rise together with this one's.
    package var dependentSKUs: [String]?
    /// In milliunits of the currency.
    package var price: Int64?
    package var status: AdvancedCommercePriceIncreaseInfoStatus?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommercePriceIncreaseInfo>] = [
        .init("dependentSKUs", \.dependentSKUs),
        .init("price", \.price),
        .init("status", \.status),
    ]
}

/// How far a price increase has come.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercepriceincreaseinfostatus
package struct AdvancedCommercePriceIncreaseInfoStatus: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let scheduled = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "SCHEDULED")
    /// The customer has not answered yet.
    package static let pending = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "PENDING")
    package static let accepted = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "ACCEPTED")

    package static let known = [scheduled, pending, accepted]
}
