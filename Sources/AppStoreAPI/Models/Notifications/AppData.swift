package import JSON

/// The subject of notifications about an app as a whole.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/appdata
package struct AppData: WireModel {
    package var appAppleId: Int64?
    package var bundleId: String?
    package var environment: Environment?
    /// A compact JWS whose payload is an ``AppTransactionPayload``.
    package var signedAppTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AppData>] = [
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("environment", \.environment),
        .init("signedAppTransactionInfo", \.signedAppTransactionInfo),
    ]
}
