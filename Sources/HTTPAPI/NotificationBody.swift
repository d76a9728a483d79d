import Domain
import JSON

/// The object of our API for a notification that Apple sent or tried to send: its decoded parts byte for byte.
enum NotificationBody {
    static func write(_ sent: SentNotification, includesSigned: Bool, to writer: inout JSONWriter) {
        let notification = sent.notification
        writer.memberRaw("notification", notification.payload)
        if let transaction = notification.transaction { writer.memberRaw("transaction", transaction.payload) }
        if let renewalInfo = notification.renewalInfo { writer.memberRaw("renewalInfo", renewalInfo.payload) }
        if let appTransaction = notification.appTransaction {
            writer.memberRaw("appTransaction", appTransaction.payload)
        }
        writer.memberArray("sendAttempts") { writer in
            for attempt in sent.attempts {
                writer.object { writer in
                    writer.memberIfPresent("attemptDate", attempt.attemptDate)
                    writer.memberIfPresent("sendAttemptResult", attempt.result)
                }
            }
        }
        writer.member("environment", notification.environment.rawValue)
        writer.member("verified", true)
        if includesSigned { writer.member("signedPayload", notification.signed) }
    }
}
