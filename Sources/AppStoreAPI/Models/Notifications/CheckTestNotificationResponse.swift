package import JSON

/// The answer of Get Test Notification Status.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/checktestnotificationresponse
package struct CheckTestNotificationResponse: WireModel {
    /// A compact JWS whose payload is a ``NotificationPayload`` of the type `TEST`.
    package var signedPayload: String?
    /// 6 at most: the first and five repetitions.
    package var sendAttempts: [SendAttemptItem]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<CheckTestNotificationResponse>] = [
        .init("signedPayload", \.signedPayload),
        .init("sendAttempts", \.sendAttempts),
    ]
}
