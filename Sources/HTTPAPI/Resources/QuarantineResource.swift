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
                for entry in entries { writer.object { Self.write(entry.notification, entry.position, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `GET /v1/quarantine/{id}`: with what it says it is about, to be compared with the configuration.
    func get(_ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let position = Int64(try input.parameter("id")) ?? 0
        let (notification, subject) = try await quarantine.entry(at: position)
        return Answer.object { writer in
            Self.write(notification, position, to: &writer)
            writer.memberObject("subject") { writer in
                writer.memberOrNull("bundleId", subject.bundleID)
                writer.memberOrNull("appAppleId", subject.appAppleID)
                writer.memberOrNull("notificationType", subject.type)
                writer.memberOrNull("subtype", subject.subtype)
            }
        }
    }

    /// `POST /v1/quarantine:retry`: verifies all of them anew, behind the answer.
    func retry(_ input: RequestInput) throws(ServiceError) -> Answer {
        try input.fields().finish()
        quarantine.retrySoon()
        return Answer.object(.accepted) { $0.member("status", "retrying") }
    }

    /// Without what Apple signed, which is customers' and not verified.
    private static func write(
        _ notification: QuarantinedNotification, _ position: Int64, to writer: inout JSONWriter
    ) {
        writer.member("id", String(position))
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
