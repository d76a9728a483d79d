import Domain
import Foundation
import GRDB

/// A notification as it stands in its two tables.
struct NotificationRow: Sendable {
    let position: Int64
    let notification: StoredNotification

    /// Reads a row with all columns.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    init(_ row: Row) throws {
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

    private static func transaction(_ row: Row) throws -> Transaction? {
        guard let signed = try row.value("transactionSigned", as: String?.self) else { return nil }
        let facts = try row.purchase()
        return Transaction(
            transactionID: facts.transactionID, originalTransactionID: facts.originalTransactionID,
            webOrderLineItemID: try row.value("webOrderLineItemId"),
            appTransactionID: facts.appTransactionID, appAccountToken: facts.appAccountToken,
            productID: facts.productID, productType: facts.productType, purchaseDate: facts.purchaseDate,
            signedDate: try row.date("transactionSignedDate"),
            revocationDate: try row.dateIfPresent("revocationDate"), isFamilyShared: facts.isFamilyShared,
            isAdvancedCommerce: facts.isAdvancedCommerce,
            environment: facts.environment, payload: try row.bytes("transactionPayload"), signed: signed)
    }

    private static func verified(_ row: Row, _ payload: String, _ signed: String) throws -> VerifiedData? {
        guard let signed = try row.value(signed, as: String?.self) else { return nil }
        return VerifiedData(payload: try row.bytes(payload), signed: signed)
    }

    /// Keeps a notification that is still to be processed, unless its UUID is known for the app.
    ///
    /// - Returns: whether it was new.
    static func insert(_ stored: StoredNotification, into database: Database) throws -> Bool {
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
                transaction?.signedDate.milliseconds, transaction?.revocationDate?.milliseconds,
                transaction?.isFamilyShared, transaction?.isAdvancedCommerce,
            ])
        guard database.changesCount == 1 else { return false }
        try database.cachedStatement(sql: contentInsertion).execute(
            arguments: [
                database.lastInsertedRowID, Data(apple.payload), (transaction?.payload).map { Data($0) },
                (apple.renewalInfo?.payload).map { Data($0) }, (apple.appTransaction?.payload).map { Data($0) },
                apple.signed, transaction?.signed, apple.renewalInfo?.signed, apple.appTransaction?.signed,
            ])
        return true
    }

    private static let insertion = """
        INSERT INTO notification
            (app, uuid, type, subtype, signedDate, environment, source, receivedAt, consumptionRequestReason,
             appTransactionId, transactionId, originalTransactionId, webOrderLineItemId, appAccountToken, productId,
             productType, purchaseDate, transactionSignedDate, revocationDate, isFamilyShared, isAdvancedCommerce)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
}
