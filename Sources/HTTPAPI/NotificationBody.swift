import Domain
import JSON

/// The objects of our API for Apple's notifications: their decoded parts byte for byte.
enum NotificationBody {
    /// A notification that Apple sent or tried to send.
    static func write(_ sent: SentNotification, includesSigned: Bool, to writer: inout JSONWriter) {
        write(sent.notification, includesSigned: includesSigned, to: &writer)
        writer.memberArray("sendAttempts") { writer in
            for attempt in sent.attempts {
                writer.object { writer in
                    writer.memberIfPresent("attemptDate", attempt.attemptDate)
                    writer.memberIfPresent("sendAttemptResult", attempt.result)
                }
            }
        }
    }

    /// A notification that is kept here.
    static func write(_ stored: StoredNotification, includesSigned: Bool, to writer: inout JSONWriter) {
        let apple = stored.notification
        writer.member("notificationUUID", apple.notificationUUID)
        writer.member("notificationType", apple.notificationType)
        writer.memberOrNull("subtype", apple.subtype)
        writer.member("source", stored.source.rawValue)
        writer.member("receivedAt", Timestamp.text(stored.receivedAt))
        writer.memberOrNull("processedAt", stored.processedAt.map(Timestamp.text))
        writer.memberOrNull("user", stored.user?.value)
        write(apple, includesSigned: includesSigned, to: &writer)
    }

    /// The capacity that an answer with these notifications needs.
    static func capacity(_ notifications: some Collection<StoredNotification>) -> Int {
        notifications.reduce(256) { size, stored in
            let apple = stored.notification
            let parts = [apple.transaction?.payload, apple.renewalInfo?.payload, apple.appTransaction?.payload]
            return parts.reduce(size + 512 + apple.payload.count) { $0 + ($1?.count ?? 0) }
        }
    }

    private static func write(
        _ notification: AppleNotification, includesSigned: Bool, to writer: inout JSONWriter
    ) {
        writer.memberRaw("notification", notification.payload)
        if let transaction = notification.transaction { writer.memberRaw("transaction", transaction.payload) }
        if let renewalInfo = notification.renewalInfo { writer.memberRaw("renewalInfo", renewalInfo.payload) }
        if let appTransaction = notification.appTransaction {
            writer.memberRaw("appTransaction", appTransaction.payload)
        }
        writer.member("environment", notification.environment.rawValue)
        writer.member("verified", true)
        if includesSigned { writer.member("signedPayload", notification.signed) }
    }
}
