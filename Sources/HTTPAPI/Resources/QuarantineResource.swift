import Domain
import HTTPTypes
import JSON

/// Notifications that do not verify as an app's, for operators: mostly the configuration is what is wrong.
struct QuarantineRoutes: Sendable {
    let quarantine: NotificationQuarantine
    let tokens: PageTokenCoder

    /// `GET /v1/quarantine`: oldest first, of all apps.
    func list(_ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let page = PageRequest(&fields, of: "quarantine", nil, input, maximumSize: PageLimit.storedRows, tokens)
        try fields.finish()
        let position = try page.position { Int64($0) }
        let found = try await quarantine.list(after: position ?? 0, limit: page.limit)
        let (entries, next) = page.page(found) { String($0.position) }
        return Answer.object(capacity: 256 + entries.count * 512) { writer in
            writer.memberArray("notifications") { writer in
                for entry in entries { writer.object { Self.write(entry.notification, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `POST /v1/quarantine:retry`: verifies all of them anew, behind the answer.
    func retry(_ input: RequestInput) throws(ServiceError) -> Answer {
        try input.fields().finish()
        quarantine.retrySoon()
        return Answer.object(.accepted) { $0.member("status", "retrying") }
    }

    /// Without what Apple signed, which is customers' and not verified.
    private static func write(_ notification: QuarantinedNotification, to writer: inout JSONWriter) {
        writer.member("app", notification.app)
        writer.memberOrNull("notificationUUID", notification.claims.notificationUUID)
        writer.memberOrNull("environment", notification.claims.environment?.rawValue)
        writer.memberOrNull("signedAt", notification.claims.signedAt.map(Timestamp.text))
        writer.member("fault", notification.fault)
        writer.member("source", notification.source.rawValue)
        writer.member("receivedAt", Timestamp.text(notification.receivedAt))
        writer.member("lastReceivedAt", Timestamp.text(notification.lastReceivedAt))
        writer.memberOrNull("triedAt", notification.triedAt.map(Timestamp.text))
        writer.member("keptUntil", Timestamp.text(notification.keptUntil))
    }
}
