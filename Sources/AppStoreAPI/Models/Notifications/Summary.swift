package import JSON

/// The outcome of a mass extension, in the notification that it has finished.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/summary
package struct Summary: WireModel {
    package var environment: Environment?
    package var appAppleId: Int64?
    package var bundleId: String?
    package var productId: String?
    /// The UUID of the request.
    package var requestIdentifier: String?
    /// ISO 3166-1 alpha-3; missing means every storefront.
    package var storefrontCountryCodes: [String]?
    /// Subscriptions that were extended.
    package var succeededCount: Int64?
    /// Subscriptions that could not be extended.
    package var failedCount: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<Summary>] = [
        .init("environment", \.environment),
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("productId", \.productId),
        .init("requestIdentifier", \.requestIdentifier),
        .init("storefrontCountryCodes", \.storefrontCountryCodes),
        .init("succeededCount", \.succeededCount),
        .init("failedCount", \.failedCount),
    ]
}
