package import JSON

/// One notification and how its delivery went.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponseitem
package struct NotificationHistoryResponseItem: WireModel {
    /// A compact JWS whose payload is a ``NotificationPayload``.
    package var signedPayload: String?
    /// 6 at most: the first and five repetitions.
    package var sendAttempts: [SendAttemptItem]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationHistoryResponseItem>] = [
        .init("signedPayload", \.signedPayload),
        .init("sendAttempts", \.sendAttempts),
    ]
}
