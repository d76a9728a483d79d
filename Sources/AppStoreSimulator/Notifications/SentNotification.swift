package import AppStoreAPI

/// A notification and how its delivery went so far.
package struct SentNotification: Sendable {
    /// One attempt to deliver it.
    package struct Attempt: Sendable, Hashable {
        /// UNIX milliseconds.
        package let date: Int64
        package let result: SendAttemptResult
    }

    /// Counts all notifications, from 1.
    package let number: Int
    /// A UUID in lower case; the same for all attempts.
    package let uuid: String
    package let draft: NotificationDraft
    /// The app's Apple id when it was made.
    let appAppleID: Int64
    /// UNIX milliseconds.
    package let signedDate: Int64
    /// What Get Test Notification Status asks by, for a test.
    let testToken: String?
    /// The compact JWS; signed for the first attempt and the same ever after.
    package internal(set) var signedPayload: String?
    package internal(set) var attempts: [Attempt] = []
    /// When the next attempt is due, UNIX milliseconds; nil when there is none or one is under way.
    package internal(set) var nextAttemptDate: Int64?

    /// Whether the receiver has confirmed it.
    package var isDelivered: Bool { attempts.contains { $0.result == .success } }

    /// The attempts as Apple reports them.
    var sendAttempts: [SendAttemptItem] {
        attempts.map { attempt in
            SendAttemptItem {
                $0.attemptDate = attempt.date
                $0.sendAttemptResult = attempt.result
            }
        }
    }
}
