package import Domain
package import Foundation

// What becomes of notifications.

extension SQLStore {
    package func process(
        _ notification: StoredNotification, newCaseID: String, at now: Date
    ) async throws(ServiceError) -> AppliedNotification {
        try await write("process a notification") { [effects, isShared] database in
            guard isShared else {
                return try effects.apply(notification, newCaseID: newCaseID, at: now, in: database)
            }
            // Since it was read another copy may have applied it, or erased what names a user.
            let current = try NotificationRow.list(
                database, sql: "\(NotificationRow.columns) WHERE app = ? AND uuid = ?",
                arguments: [notification.app, notification.notification.notificationUUID]
            ).first?.notification
            guard let current else { return AppliedNotification() }
            return try effects.apply(current, newCaseID: newCaseID, at: now, in: database)
        }
    }
}

extension NotificationRow {
    /// Whether a notification is there and still to be processed.
    static func isUnprocessed(app: String, uuid: String, in database: SQLDatabase) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT processedAt IS NULL FROM notification WHERE app = ? AND uuid = ?"),
            arguments: [app, uuid]) ?? false
    }

    static func markProcessed(
        app: String, uuid: String, user: UserID?, at now: Date, in database: SQLDatabase
    ) throws {
        try database.cachedStatement(
            sql: "UPDATE notification SET processedAt = ?, user = ? WHERE app = ? AND uuid = ?"
        ).execute(arguments: [now.milliseconds, user.map(LinkRow.bytes), app, uuid])
    }
}
