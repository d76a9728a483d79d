package import Domain
package import Foundation
import GRDB

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
                change = try CaseRow.apply(notice.asStored, owner: owner, newID: newCaseID, at: now, in: database)
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

extension CaseRules.Notice {
    /// The notice with instants to the millisecond, as they come back from their rows.
    fileprivate var asStored: CaseRules.Notice {
        CaseRules.Notice(
            message: message, notificationUUID: notificationUUID, app: app, purchase: purchase.asStored,
            signedAt: signedAt.asStored, receivedAt: receivedAt.asStored)
    }
}
