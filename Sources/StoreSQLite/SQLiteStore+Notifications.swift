package import Domain
import Foundation
import GRDB

extension SQLiteStore {
    package func record(_ notification: StoredNotification) async throws(ServiceError) -> Bool {
        try await write("keep a notification") { database in
            guard try NotificationRow.insert(notification, into: database) else { return false }
            let apple = notification.notification
            try EventRow.append(
                ServiceEvent(
                    app: notification.app, kind: .notificationReceived, subject: apple.notificationUUID,
                    at: notification.receivedAt, environment: apple.environment,
                    transactionID: apple.transaction?.transactionID, notificationType: apple.notificationType,
                    subtype: apple.subtype),
                to: database)
            return true
        }
    }

    package func unprocessedNotifications(limit: Int) async throws(ServiceError) -> [StoredNotification] {
        try await read("read notifications that are to be processed") { database in
            try NotificationRow.list(
                database, sql: "\(NotificationRow.columns) WHERE processedAt IS NULL ORDER BY position LIMIT ?",
                arguments: [limit]
            ).map(\.notification)
        }
    }

    package func notification(app: String, uuid: String) async throws(ServiceError) -> StoredNotification? {
        try await read("read a notification") { database in
            try NotificationRow.list(
                database, sql: "\(NotificationRow.columns) WHERE app = ? AND uuid = ?", arguments: [app, uuid]
            ).first?.notification
        }
    }

    package func notifications(
        app: String, _ query: NotificationQuery
    ) async throws(ServiceError) -> [(position: Int64, notification: StoredNotification)] {
        try await read("list notifications") { database in
            try NotificationRow.page(database, app: app, query).map { ($0.position, $0.notification) }
        }
    }
}

extension NotificationRow {
    /// How far, in milliseconds, the system's clock may have been set back before the time of a row tells where not to look.
    private static let clockSlack: Int64 = 3_600_000

    /// The rows that a query for all columns gives.
    static func list(_ database: Database, sql: String, arguments: StatementArguments) throws -> [NotificationRow] {
        // One by one: an array of rows would copy the signed forms once more.
        try Array(Row.fetchCursor(database.cachedStatement(sql: sql), arguments: arguments).map(NotificationRow.init))
    }

    /// A page of an app's notifications, latest recorded first.
    static func page(
        _ database: Database, app: String, _ query: NotificationQuery
    ) throws -> [NotificationRow] {
        var conditions = Conditions()
        conditions.add("app = ?", app)
        if let type = query.type { conditions.add("type = ?", type) }
        if let subtype = query.subtype { conditions.add("subtype = ?", subtype) }
        if let user = query.user { conditions.add("user = ?", LinkRow.bytes(user)) }
        if let environment = query.environment { conditions.add("+environment = ?", environment.rawValue) }
        if let before = query.before { conditions.add("position < ?", before) }
        if let since = query.since {
            conditions.add("+receivedAt >= ?", since.milliseconds)
            conditions.add("position > ?", try position(database, before: since))
        }
        guard let transaction = query.transactionID else {
            return try list(
                database,
                sql: "\(columns) WHERE \(conditions.sql) ORDER BY position DESC LIMIT ?",
                arguments: conditions.arguments + [query.limit])
        }
        // Two ordered walks that SQLite merges; with OR it would have to sort.
        return try list(
            database,
            sql: """
                \(columns) WHERE \(conditions.sql) AND transactionId = ?
                UNION ALL
                \(columns) WHERE \(conditions.sql) AND originalTransactionId = ? AND +transactionId <> ?
                ORDER BY position DESC LIMIT ?
                """,
            arguments: conditions.arguments + [transaction] + conditions.arguments
                + [transaction, transaction, query.limit])
    }

    /// A position before everything that was received since a time: the list need not go back further.
    private static func position(_ database: Database, before since: Date) throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: "SELECT position FROM notification WHERE receivedAt < ? ORDER BY receivedAt DESC LIMIT 1",
            arguments: [since.milliseconds - clockSlack]) ?? 0
    }
}
