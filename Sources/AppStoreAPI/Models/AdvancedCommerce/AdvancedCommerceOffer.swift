package import JSON

/// A discount for an item of a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/offer
package struct AdvancedCommerceOffer: WireModel {
    package var period: AdvancedCommerceOfferPeriod?
    /// 1 to 12.
    package var periodCount: Int32?
    /// In milliunits of the currency.
    package var price: Int64?
    package var reason: AdvancedCommerceOfferReason?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceOffer>] = [
        .init("period", \.period, isRequired: true),
        .init("periodCount", \.periodCount, isRequired: true),
        .init("price", \.price, isRequired: true),
        .init("reason", \.reason, isRequired: true),
    ]
}
