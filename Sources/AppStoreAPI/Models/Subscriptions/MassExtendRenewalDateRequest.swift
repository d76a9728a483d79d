package import JSON

/// The body of Extend Subscription Renewal Dates for All Active Subscribers.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldaterequest
package struct MassExtendRenewalDateRequest: WireModel {
    /// 1 to 90.
    package var extendByDays: Int32?
    package var extendReasonCode: ExtendReasonCode?
    /// A UUID; the same one again when the outcome of a call is unknown.
    package var requestIdentifier: String?
    /// ISO 3166-1 alpha-3; nil means every storefront, and an empty list is refused.
    package var storefrontCountryCodes: [String]?
    /// The subscription to extend.
    package var productId: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<MassExtendRenewalDateRequest>] = [
        .init("extendByDays", \.extendByDays),
        .init("extendReasonCode", \.extendReasonCode),
        .init("requestIdentifier", \.requestIdentifier),
        .init("storefrontCountryCodes", \.storefrontCountryCodes),
        .init("productId", \.productId),
    ]
}
