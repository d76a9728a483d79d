package import JSON

/// The body of a notification that the App Store sends, version 2.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2
package struct ResponseBodyV2: WireModel {
    /// A compact JWS whose payload is a ``NotificationPayload``.
    package var signedPayload: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ResponseBodyV2>] = [
        .init("signedPayload", \.signedPayload)
    ]
}
