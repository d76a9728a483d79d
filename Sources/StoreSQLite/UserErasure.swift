package import Domain
package import Foundation
import GRDB

extension SQLiteStore {
    package func eraseUser(
        app: String, user: UserID, at now: Date
    ) async throws(ServiceError) -> ErasureReport {
        var report = try await write("erase a user") { [tombstones, fresh] database in
            fresh.forget()
            let spellings = try OwnerQuery.spellings(of: user, app: app, in: database)
            let erasure = UserErasure(app: app, user: user, spellings: spellings, tombstones: tombstones)
            return try erasure.run(at: now, in: database)
        }
        // What was overwritten still stands in the log.
        do throws(ServiceError) {
            try await truncation.run()
        } catch {
            report.remains = error
        }
        return report
    }
}

/// Removes what is known of a user, within one transaction.
private struct UserErasure {
    let app: String
    let user: UserID
    /// Every spelling of the user's id, the given one included.
    let spellings: [UserID]
    let tombstones: Tombstones

    func run(at now: Date, in database: Database) throws -> ErasureReport {
        let deliveries = try UserDeliveries.list(of: user, app: app, .all, in: database)
        let ended = try DeliveryRow.cancel(deliveries, because: DeliveryRow.erasure, at: now, in: database)
        let linked = try Set(spellings.flatMap { try UserDeliveries.targets(of: $0, app: app, in: database) })
        // While the links are there: each of the user's cases is found as such, those included that were to be judged later.
        try CaseRow.refreshOwners(app: app, targets: linked, isBounded: false, in: database)
        let tokens = try self.tokens(database)
        let isWithdrawalKept = try isWithdrawn(database)
        let purchases = try purchases(deliveries, database)
        let usage = try UsageRow.erase(
            user,
            transactions: UsageRow.transactions(of: spellings, tokens: tokens, app: app, in: database)
                .union(linked.union(purchases.targets).transactions),
            app: app, in: database)
        _ = try QuarantineRow.remove(linked.union(purchases.targets), app: app, from: database)
        if isWithdrawalKept {
            for spelling in spellings {
                try tombstones.leave(spelling, linked.union(purchases.targets), app: app, in: database)
            }
        }
        for row in deliveries { try row.erase(spellings, in: database) }
        let links = try remove("DELETE FROM link", in: database)
        let records = try spellings.reduce(0) {
            try $0 + ConsentRow.remove(app: app, user: $1, from: database)
        }
        let cases = try remove(
            "UPDATE refundCase SET owner = NULL, appAccountToken = NULL, declineNote = NULL", whose: "owner",
            in: database)
        let notifications = try NotificationRow.erase(spellings, tokens: tokens, app: app, in: database)
        try PurchaseTokenRow.remove(tokens, app: app, in: database)
        _ = try remove("DELETE FROM auditPseudonym", in: database)
        let receipts = try ReceiptRow.erase(spellings, app: app, in: database)
        // Another user's link may make a case that user's now.
        try CaseRow.refreshOwners(app: app, targets: linked, isBounded: false, in: database)
        return ErasureReport(
            links: links, consentRecords: records, cancelled: try again(ended.cancelled, database),
            sending: try again(ended.sending, database), deliveries: deliveries.count, cases: cases,
            notifications: notifications, receipts: receipts, usage: usage,
            events: try remove("UPDATE event SET user = NULL", in: database), isWithdrawalKept: isWithdrawalKept,
            isRescissionKept: try isRescinded(purchases.accounts.union(linked.accounts), database))
    }

    /// The `appAccountToken`s that are the user's at present, in lower case: those that are linked, and its id if it is one.
    private func tokens(_ database: Database) throws -> [String] {
        let linked = try spellings.flatMap { try LinkRow.list(of: $0, app: app, from: database).map(\.link) }
            .filter { $0.isInForce && $0.target.kind == .appAccountToken }.map(\.target.value)
        return Array(Set(linked + (user.isUUID ? [user.folded] : []))).sorted()
    }

    /// Whether the user's last word is a withdrawal, or an earlier erasure left one.
    private func isWithdrawn(_ database: Database) throws -> Bool {
        let latest = try ConsentRow.latest(app: app, user: user, from: database)
        if !latest.isEmpty { return latest.contains { !$0.isConsented } }
        return try tombstones.isErased(user, app: app, in: database)
    }

    /// Whether a guardian's rescission stays for one of these Apple Accounts.
    private func isRescinded(_ accounts: Set<String>, _ database: Database) throws -> Bool {
        try accounts.contains { account in
            try AppStoreEnvironment.allCases.contains { environment in
                try RescissionRow.latest(of: account, app: app, environment, tombstones, in: database) != nil
            }
        }
    }

    /// The identifiers of single purchases that were the user's: they are recognised although their rows lose the token.
    private func purchases(
        _ deliveries: [DeliveryRow], _ database: Database
    ) throws -> (targets: [LinkTarget], accounts: Set<String>) {
        let cases = try spellings.flatMap { spelling in
            try CaseRow.list(
                database, sql: "SELECT * FROM refundCase WHERE app = ? AND owner = ? ORDER BY deadline, id",
                arguments: [app, LinkRow.bytes(spelling)])
        }
        let transactions = deliveries.map(\.delivery.transactionID) + cases.map(\.transactionID)
        let facts = deliveries.compactMap(\.delivery.purchase) + cases.map(\.purchase)
        let targets =
            transactions.map { LinkTarget(.transactionId, $0) }
            + facts.map { LinkTarget(.originalTransactionId, $0.originalTransactionID) }
        return (targets, Set(facts.compactMap(\.appTransactionID)))
    }

    /// Runs a statement on the user's rows.
    ///
    /// - Returns: how many there were.
    private func remove(_ sql: String, whose column: String = "user", in database: Database) throws -> Int {
        try spellings.reduce(0) { count, spelling in
            try database.execute(
                sql: "\(sql) WHERE app = ? AND \(column) = ?", arguments: [app, LinkRow.bytes(spelling)])
            return count + database.changesCount
        }
    }

    /// Deliveries as they now are.
    private func again(_ deliveries: [Delivery], _ database: Database) throws -> [Delivery] {
        try deliveries.compactMap { try DeliveryRow.fetch(app: app, id: $0.id, from: database)?.delivery }
    }
}

extension Set<LinkTarget> {
    /// The transaction ids among them, original ones included.
    fileprivate var transactions: Set<String> {
        Set<String>(filter { [.transactionId, .originalTransactionId].contains($0.kind) }.map(\.value))
    }

    /// The Apple Accounts among them.
    fileprivate var accounts: Set<String> { Set<String>(filter { $0.kind == .appTransactionId }.map(\.value)) }
}

extension NotificationRow {
    /// Removes the user, the tokens and every signed form from the notifications of a user: those found to be its own, and
    /// those that name one of its tokens.
    ///
    /// - Returns: how many there were.
    fileprivate static func erase(
        _ spellings: [UserID], tokens: [String], app: String, in database: Database
    ) throws -> Int {
        var positions: Set<Int64> = []
        for user in spellings {
            positions.formUnion(
                try Int64.fetchSet(
                    database, sql: "SELECT position FROM notification WHERE app = ? AND user = ?",
                    arguments: [app, LinkRow.bytes(user)]))
        }
        for token in tokens {
            positions.formUnion(
                try Int64.fetchSet(
                    database, sql: "SELECT position FROM notification WHERE app = ? AND appAccountToken = ?",
                    arguments: [app, token]))
        }
        for position in positions {
            try database.cachedStatement(
                sql: "UPDATE notification SET user = NULL, appAccountToken = NULL WHERE position = ?"
            ).execute(arguments: [position])
            try database.cachedStatement(sql: contentErasure).execute(arguments: [position])
        }
        return positions.count
    }

    private static let contentErasure = """
        UPDATE notificationContent SET
            signed = '',
            transactionSigned = CASE WHEN transactionSigned IS NULL THEN NULL ELSE '' END,
            renewalSigned = CASE WHEN renewalSigned IS NULL THEN NULL ELSE '' END,
            appTransactionSigned = CASE WHEN appTransactionSigned IS NULL THEN NULL ELSE '' END,
            payload = \(without(
                "payload", "data.signedTransactionInfo", "data.signedRenewalInfo", "appData.signedAppTransactionInfo")),
            transactionPayload = \(without("transactionPayload", "appAccountToken")),
            renewalPayload = \(without("renewalPayload", "appAccountToken"))
        WHERE position = ?
        """

    /// The expression for a column of JSON without some members.
    private static func without(_ column: String, _ members: String...) -> String {
        let paths = members.map { "'$.\($0)'" }.joined(separator: ", ")
        return """
            CASE WHEN json_valid(CAST(\(column) AS TEXT))
                THEN CAST(json_remove(CAST(\(column) AS TEXT), \(paths)) AS BLOB)
                WHEN \(column) IS NULL THEN NULL ELSE CAST('{}' AS BLOB) END
            """
    }
}

extension DeliveryRow {
    /// Why a delivery of an erased user ended; also in the place of a failure that may name the user.
    static var erasure: DeliveryFailure { DeliveryFailure(reason: .deliveryEnded, message: "Its user was erased.") }

    /// Whether its content was removed with its user.
    var isErased: Bool { delivery.body.isEmpty }

    /// Removes the user, the content, and whatever may name the user.
    fileprivate func erase(_ spellings: [UserID], in database: Database) throws {
        guard
            let row = try Row.fetchOne(
                database.cachedStatement(sql: "SELECT failure, cancellation FROM delivery WHERE id = ?"),
                arguments: [delivery.id])
        else { return }
        let (user, acceptedFor) = (without(delivery.user), without(delivery.acceptedFor))
        func without(_ user: UserID?) -> Data? {
            user.flatMap { spellings.contains($0) ? nil : LinkRow.bytes($0) }
        }
        let texts = try ["failure", "cancellation"].map { column in
            try row.value(column, as: Data?.self).map(DeliveryFailure.init(stored:)).map { try $0.withoutUser.stored }
        }
        try database.cachedStatement(
            sql: """
                UPDATE delivery SET user = ?, acceptedFor = ?, body = x'', appAccountToken = NULL, failure = ?,
                    cancellation = ?
                WHERE id = ?
                """
        ).execute(arguments: [user, acceptedFor, texts[0], texts[1], delivery.id])
        try database.cachedStatement(sql: "DELETE FROM idempotencyKey WHERE deliveryId = ?")
            .execute(arguments: [delivery.id])
    }
}

extension DeliveryFailure {
    /// The failure without the sentence, which may name a user.
    var withoutUser: DeliveryFailure {
        DeliveryFailure(reason: reason, message: DeliveryRow.erasure.message, apple: apple)
    }
}
