package import JSON

/// The answer of Request a Test Notification.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/sendtestnotificationresponse
package struct SendTestNotificationResponse: WireModel {
    /// Asks for the status of the test, for six months at most.
    package var testNotificationToken: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<SendTestNotificationResponse>] = [
        .init("testNotificationToken", \.testNotificationToken)
    ]
}
