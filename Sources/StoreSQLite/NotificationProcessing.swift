package import Domain
package import Foundation
import GRDB

// What becomes of notifications: processed, kept in quarantine, or missed and searched for.

extension SQLiteStore: NotificationStore {
    package func process(
        _ notification: StoredNotification, notice: CaseRules.Notice?, links: [Link], newCaseID: String, at now: Date
    ) async throws(ServiceError) -> CaseRules.Change {
        let app = notification.app
        let uuid = notification.notification.notificationUUID
        let purchase = notification.notification.transaction?.facts ?? notice?.purchase
        let maximum = maximumKnownIdentifiers
        return try await write("process a notification") { database in
            guard try NotificationRow.isUnprocessed(app: app, uuid: uuid, in: database) else { return .none }
            for link in links { try LinkRow.learn(link, in: database) }
            var owner: UserID?
            if let purchase {
                try KnownIdentifierRow.remember(purchase.identifiers, app: app, keeping: maximum, in: database)
                owner = try OwnerQuery.owner(of: purchase, app: app, in: database)
            }
            var change = CaseRules.Change.none
            if let notice {
                change = try CaseRow.apply(notice, owner: owner, newID: newCaseID, at: now, in: database)
            }
            try NotificationRow.markProcessed(app: app, uuid: uuid, user: owner, at: now, in: database)
            return change
        }
    }
}

extension NotificationRow {
    /// Whether a notification is there and still to be processed.
    fileprivate static func isUnprocessed(app: String, uuid: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT processedAt IS NULL FROM notification WHERE app = ? AND uuid = ?"),
            arguments: [app, uuid]) ?? false
    }

    fileprivate static func markProcessed(
        app: String, uuid: String, user: UserID?, at now: Date, in database: Database
    ) throws {
        try database.cachedStatement(
            sql: "UPDATE notification SET processedAt = ?, user = ? WHERE app = ? AND uuid = ?"
        ).execute(arguments: [now.milliseconds, user.map(LinkRow.bytes), app, uuid])
    }
}

extension PurchaseFacts {
    /// The identifiers whose environment and Apple Account the purchase tells.
    fileprivate var identifiers: [KnownIdentifier] {
        Set([transactionID, originalTransactionID]).map {
            KnownIdentifier(identifier: $0, environment: environment, appTransactionID: appTransactionID)
        }
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
