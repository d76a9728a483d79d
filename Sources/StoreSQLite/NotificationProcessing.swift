package import Domain
package import Foundation
import GRDB

// What becomes of notifications: processed, kept in quarantine, or missed and searched for.

extension SQLiteStore: NotificationStore {
    package func process(
        _ notification: StoredNotification, newCaseID: String, at now: Date
    ) async throws(ServiceError) -> AppliedNotification {
        try await write("process a notification") { [effects] database in
            try effects.apply(notification, newCaseID: newCaseID, at: now, in: database)
        }
    }
}

extension NotificationRow {
    /// Whether a notification is there and still to be processed.
    static func isUnprocessed(app: String, uuid: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT processedAt IS NULL FROM notification WHERE app = ? AND uuid = ?"),
            arguments: [app, uuid]) ?? false
    }

    static func markProcessed(
        app: String, uuid: String, user: UserID?, at now: Date, in database: Database
    ) throws {
        try database.cachedStatement(
            sql: "UPDATE notification SET processedAt = ?, user = ? WHERE app = ? AND uuid = ?"
        ).execute(arguments: [now.milliseconds, user.map(LinkRow.bytes), app, uuid])
    }
}

// MARK: Quarantine

extension SQLiteStore {
    package func quarantine(
        _ notification: QuarantinedNotification, keeping maximum: Int
    ) async throws(ServiceError) {
        try await write("keep a notification in quarantine") { database in
            try database.execute(
                sql: "INSERT INTO quarantine (app, uuid, fault, receivedAt, signed) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    notification.app, notification.notificationUUID, notification.fault,
                    notification.receivedAt.milliseconds, notification.signed,
                ])
            try database.execute(
                sql: "DELETE FROM quarantine WHERE position <= (SELECT max(position) FROM quarantine) - ?",
                arguments: [maximum])
        }
    }

    package func quarantineStatus() async throws(ServiceError) -> (count: Int, latest: Date?) {
        try await read("look into the quarantine") { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT position, receivedAt FROM quarantine WHERE position > 0 ORDER BY position DESC LIMIT 1
                    """)
            guard let row, let first = try Int64.fetchOne(database, sql: "SELECT min(position) FROM quarantine") else {
                return (0, nil)
            }
            let last: Int64 = try row.value("position")
            return (Int(last - first + 1), try row.date("receivedAt"))
        }
    }
}

// MARK: The search for missed notifications

extension SQLiteStore {
    package func historyProgress(
        app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> HistoryProgress? {
        try await read("read how far the search for missed notifications got") { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT * FROM historyProgress WHERE app = ? AND environment = ?",
                arguments: [app, environment.rawValue])
            return try row.map { row in
                HistoryProgress(completeUntil: try row.dateIfPresent("completeUntil"), search: try Self.search(row))
            }
        }
    }

    package func saveHistoryProgress(
        _ progress: HistoryProgress, app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) {
        try await write("keep how far the search for missed notifications got") { database in
            try database.execute(
                sql: """
                    INSERT INTO historyProgress
                        (app, environment, completeUntil, pass, windowStart, windowEnd, paginationToken)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (app, environment) DO UPDATE SET
                        completeUntil = excluded.completeUntil, pass = excluded.pass,
                        windowStart = excluded.windowStart, windowEnd = excluded.windowEnd,
                        paginationToken = excluded.paginationToken
                    """,
                arguments: [
                    app, environment.rawValue, progress.completeUntil?.milliseconds, progress.search?.pass.rawValue,
                    progress.search?.start.milliseconds, progress.search?.end.milliseconds,
                    progress.search?.paginationToken,
                ])
        }
    }

    private static func search(_ row: Row) throws -> HistoryProgress.Search? {
        guard let pass: HistoryProgress.Pass = try row.knownIfPresent("pass") else { return nil }
        return HistoryProgress.Search(
            pass: pass, start: try row.date("windowStart"), end: try row.date("windowEnd"),
            paginationToken: try row.value("paginationToken"))
    }
}
