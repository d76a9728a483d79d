package import Foundation

/// How a notification came to us.
package enum NotificationSource: String, Sendable {
    /// Apple posted it to the webhook.
    case webhook
    /// A caller forwarded it.
    case forwarded
    /// It was found in Get Notification History.
    case history
}

/// A notification as it is kept: verified, decoded, and with what was made of it.
package struct StoredNotification: Sendable {
    package let app: String
    package let notification: AppleNotification
    package let source: NotificationSource
    package let receivedAt: Date
    /// By the owner rule when it was processed; nil when nobody was known, and after an erasure.
    package var user: UserID?
    /// When its effects were applied; nil as long as that is to be done.
    package var processedAt: Date?

    package init(
        app: String, notification: AppleNotification, source: NotificationSource, receivedAt: Date,
        user: UserID? = nil, processedAt: Date? = nil
    ) {
        self.app = app
        self.notification = notification
        self.source = source
        self.receivedAt = receivedAt
        self.user = user
        self.processedAt = processedAt
    }
}

/// A notification that Apple signed, but not for the app or environment that our configuration names.
package struct QuarantinedNotification: Sendable, Equatable {
    /// The app in whose name it came.
    package let app: String
    /// Apple's; nil when the payload has none.
    package let notificationUUID: String?
    /// What does not fit, in one sentence without identifiers.
    package let fault: String
    package let receivedAt: Date
    /// As Apple signed it (compact JWS).
    package let signed: String

    package init(app: String, notificationUUID: String?, fault: String, receivedAt: Date, signed: String) {
        self.app = app
        self.notificationUUID = notificationUUID
        self.fault = fault
        self.receivedAt = receivedAt
        self.signed = signed
    }
}
