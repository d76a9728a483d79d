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
    package var additional: [String: JSONValue] = [:]

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
