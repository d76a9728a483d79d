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
    package var additional: [String: JSONValue] = [:]

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
