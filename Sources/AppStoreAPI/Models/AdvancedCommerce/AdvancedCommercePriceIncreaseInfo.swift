package import JSON

/// A price increase that an item waits for.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/advancedcommercepriceincreaseinfo
package struct AdvancedCommercePriceIncreaseInfo: WireModel {
    /// Items whose prices rise together with this one's.
    package var dependentSKUs: [String]?
    /// In milliunits of the currency.
    package var price: Int64?
    package var status: AdvancedCommercePriceIncreaseInfoStatus?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommercePriceIncreaseInfo>] = [
        .init("dependentSKUs", \.dependentSKUs),
        .init("price", \.price),
        .init("status", \.status),
    ]
}
