package import JSON

/// A token for purchases outside the App Store.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken
package struct ExternalPurchaseToken: WireModel {
    /// Begins with `SANDBOX` in the sandbox.
    package var externalPurchaseId: String?
    /// UNIX milliseconds.
    package var tokenCreationDate: Int64?
    package var appAppleId: Int64?
    package var bundleId: String?
    package var tokenType: String?
    /// UNIX milliseconds.
    package var tokenExpirationDate: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ExternalPurchaseToken>] = [
        .init("externalPurchaseId", \.externalPurchaseId),
        .init("tokenCreationDate", \.tokenCreationDate),
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("tokenType", \.tokenType),
        .init("tokenExpirationDate", \.tokenExpirationDate),
    ]
}
