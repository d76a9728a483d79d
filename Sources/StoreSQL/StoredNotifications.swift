package import Domain
import Foundation

extension SQLStore {
    package func record(_ notification: StoredNotification) async throws(ServiceError) -> Bool {
        let (isNew, erasures) = try await write("keep a notification") { [fresh] database in
            (try NotificationRow.record(notification, in: database), fresh.erasures)
        }
        // Another copy may apply it, or erase of it what stands here.
        if isNew, !isShared { fresh.keep(notification, recordedAfter: erasures) }
        return isNew
    }

    package func unprocessedNotifications(
        limit: Int, leavingOut leftOut: Set<NotificationKey>, behind app: String
    ) async throws(ServiceError) -> [StoredNotification] {
        try await read("read notifications that are to be processed") { [fresh] database in
            try UnprocessedNotifications(leavingOut: leftOut, in: database).places(limit: limit, behind: app)
                .flatMap { place in
                    if let fresh = fresh.take(place.key) { return [fresh] }
                    return try NotificationRow.list(
                        database, sql: "\(NotificationRow.columns) WHERE position = ?", arguments: [place.position]
                    ).map(\.notification)
                }
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

/// A notification as it stands in its two tables.
struct NotificationRow: Sendable {
    let position: Int64
    let notification: StoredNotification

    /// Reads a row with all columns.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(_ row: SQLRow) throws {
        position = try row.value("position")
        let apple = AppleNotification(
            notificationUUID: try row.value("uuid"), notificationType: try row.value("type"),
            subtype: try row.value("subtype"), signedDate: try row.value("signedDate"),
            environment: try row.known("environment"), payload: try row.bytes("payload"),
            signed: try row.value("signed"), transaction: try Self.transaction(row),
            renewalInfo: try Self.verified(row, "renewalPayload", "renewalSigned"),
            appTransaction: try Self.verified(row, "appTransactionPayload", "appTransactionSigned"),
            appTransactionID: try row.value("appTransactionId"),
            consumptionRequestReason: try row.value("consumptionRequestReason"))
        notification = StoredNotification(
            app: try row.value("app"), notification: apple, source: try row.known("source"),
            receivedAt: try row.date("receivedAt"), user: try row.userIfPresent("user"),
            processedAt: try row.dateIfPresent("processedAt"))
    }

    private static func transaction(_ row: SQLRow) throws -> Transaction? {
        guard let signed = try row.value("transactionSigned", as: String?.self) else { return nil }
        let facts = try row.purchase()
        return Transaction(
            transactionID: facts.transactionID, originalTransactionID: facts.originalTransactionID,
            webOrderLineItemID: try row.value("webOrderLineItemId"),
            appTransactionID: facts.appTransactionID, appAccountToken: facts.appAccountToken,
            productID: facts.productID, productType: facts.productType, purchaseDate: facts.purchaseDate,
            expiresDate: facts.expiresDate,
            signedDate: try row.date("transactionSignedDate"),
            revocationDate: try row.dateIfPresent("revocationDate"), isFamilyShared: facts.isFamilyShared,
            isAdvancedCommerce: facts.isAdvancedCommerce,
            environment: facts.environment, details: try details(row), payload: try row.bytes("transactionPayload"),
            signed: signed)
    }

    /// What is kept of the details: what cases are about.
    private static func details(_ row: SQLRow) throws -> TransactionDetails {
        var details = TransactionDetails()
        details.price = try row.value("price")
        details.currency = try row.value("currency")
        details.storefront = try row.value("storefront")
        details.revocationPercentage = try row.value("revocationPercentage")
        return details
    }

    private static func verified(_ row: SQLRow, _ payload: String, _ signed: String) throws -> VerifiedData? {
        guard let signed = try row.value(signed, as: String?.self) else { return nil }
        return VerifiedData(payload: try row.bytes(payload), signed: signed)
    }

    /// Whether a notification is kept.
    static func isKnown(app: String, uuid: String, in database: SQLDatabase) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM notification WHERE app = ? AND uuid = ?"),
            arguments: [app, uuid]) != nil
    }

    /// Keeps a notification that is still to be processed, and tells of it, unless its UUID is known for the app.
    ///
    /// - Returns: whether it was new.
    static func record(_ notification: StoredNotification, in database: SQLDatabase) throws -> Bool {
        guard try insert(notification, into: database) else { return false }
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

    private static func insert(_ stored: StoredNotification, into database: SQLDatabase) throws -> Bool {
        let apple = stored.notification
        let transaction = apple.transaction
        try database.cachedStatement(sql: insertion).execute(
            arguments: [
                stored.app, apple.notificationUUID, apple.notificationType, apple.subtype, apple.signedDate,
                apple.environment.rawValue, stored.source.rawValue, stored.receivedAt.milliseconds,
                apple.consumptionRequestReason, apple.appTransactionID, transaction?.transactionID,
                transaction?.originalTransactionID, transaction?.webOrderLineItemID, transaction?.appAccountToken,
                transaction?.productID,
                transaction?.productType?.rawValue, transaction?.purchaseDate.milliseconds,
                transaction?.expiresDate?.milliseconds,
                transaction?.signedDate.milliseconds, transaction?.revocationDate?.milliseconds,
                transaction?.isFamilyShared, transaction?.isAdvancedCommerce, transaction?.details.price,
                transaction?.details.currency, transaction?.details.storefront,
                transaction?.details.revocationPercentage,
            ])
        guard database.changesCount == 1 else { return false }
        try database.cachedStatement(sql: contentInsertion).execute(
            arguments: [
                try database.lastInsertedRowID(of: "notification"), Data(apple.payload),
                (transaction?.payload).map { Data($0) },
                (apple.renewalInfo?.payload).map { Data($0) }, (apple.appTransaction?.payload).map { Data($0) },
                apple.signed, transaction?.signed, apple.renewalInfo?.signed, apple.appTransaction?.signed,
            ])
        return true
    }

    private static let insertion = """
        INSERT INTO notification
            (app, uuid, type, subtype, signedDate, environment, source, receivedAt, consumptionRequestReason,
             appTransactionId, transactionId, originalTransactionId, webOrderLineItemId, appAccountToken, productId,
             productType, purchaseDate, expiresDate, transactionSignedDate, revocationDate, isFamilyShared,
             isAdvancedCommerce, price, currency, storefront, revocationPercentage)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (app, uuid) DO NOTHING
        """

    private static let contentInsertion = """
        INSERT INTO notificationContent
            (position, payload, transactionPayload, renewalPayload, appTransactionPayload, signed, transactionSigned,
             renewalSigned, appTransactionSigned)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// What to read a row with all columns from; the narrow table comes first in every plan.
    static let columns = "SELECT * FROM notification CROSS JOIN notificationContent USING (position)"

    /// How far, in milliseconds, the system's clock may have been set back before the time of a row tells where not to look.
    private static let clockSlack: Int64 = 3_600_000

    /// The rows that a query for all columns gives.
    static func list(_ database: SQLDatabase, sql: String, arguments: SQLArguments) throws -> [NotificationRow] {
        // One by one: an array of rows would hold the signed forms once more.
        let rows = try SQLRow.fetchRows(database.cachedStatement(sql: sql), arguments: arguments)
        var found: [NotificationRow] = []
        while let row = try rows.next() { found.append(try NotificationRow(row)) }
        return found
    }

    /// A page of an app's notifications, latest recorded first.
    static func page(
        _ database: SQLDatabase, app: String, _ query: NotificationQuery
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
    private static func position(_ database: SQLDatabase, before since: Date) throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: "SELECT position FROM notification WHERE receivedAt < ? ORDER BY receivedAt DESC LIMIT 1",
            arguments: [since.milliseconds - clockSlack]) ?? 0
    }
}
