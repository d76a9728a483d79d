package import Domain
package import Foundation

extension SQLStore {
    package func eraseUser(
        app: String, user: UserID, at now: Date
    ) async throws(ServiceError) -> ErasureReport {
        var report = try await write("erase a user") { [tombstones, fresh, isShared] database in
            fresh.forget()
            if isShared { try ErasureCount.increase(database) }
            let footprint = try UserFootprint(of: user, app: app, in: database)
            let erasure = UserErasure(footprint: footprint, tombstones: tombstones)
            return try erasure.run(at: now, in: database)
        }
        // What was overwritten still stands in the log.
        do throws(ServiceError) {
            try await overwriteRemoved()
        } catch {
            report.remains = error
        }
        return report
    }
}

/// How many erasures all copies of the daemon have made, so that each can tell whether what it has in memory is older.
enum ErasureCount {
    private static let name = "erasure"

    static func all(_ database: SQLDatabase) throws -> Int64 { try database.lastPosition(of: name) }

    fileprivate static func increase(_ database: SQLDatabase) throws {
        _ = try Int64.fetchOne(database.cachedStatement(sql: "SELECT nextPosition(?)"), arguments: [name])
    }
}

/// Removes what is known of a user, within one transaction.
private struct UserErasure {
    let footprint: UserFootprint
    let tombstones: Tombstones

    private var app: String { footprint.app }

    func run(at now: Date, in database: SQLDatabase) throws -> ErasureReport {
        let deliveries = footprint.deliveries
        let ended = try DeliveryRow.cancel(deliveries, because: DeliveryRow.erasure, at: now, in: database)
        let isWithdrawalKept = try isWithdrawn(database)
        try UsageRow.remove(footprint.usage, from: database)
        try QuarantineRow.remove(footprint.quarantined, from: database)
        try AppleAnswerRow.remove(footprint.answers, from: database)
        if isWithdrawalKept {
            for spelling in footprint.spellings {
                try tombstones.leave(spelling, footprint.targets, app: app, in: database)
            }
        }
        for row in deliveries { try row.erase(footprint.spellings, in: database) }
        let links = try footprint.apply("DELETE FROM link", database)
        let records = try footprint.apply("DELETE FROM consent", database)
        for refundCase in footprint.cases { try CaseRow.erase(refundCase, in: database) }
        try NotificationRow.erase(footprint.notifications, in: database)
        try PurchaseTokenRow.remove(footprint.tokens, app: app, in: database)
        _ = try footprint.apply("DELETE FROM auditPseudonym", database)
        try ReceiptRow.erase(footprint.receipts, of: footprint.spellings, app: app, in: database)
        // Another user's link may make a case that user's now.
        try CaseRow.refreshOwners(app: app, targets: footprint.linked, isBounded: false, in: database)
        return ErasureReport(
            links: links, consentRecords: records, cancelled: try again(ended.cancelled, database),
            sending: try again(ended.sending, database), deliveries: deliveries.count, cases: footprint.cases.count,
            notifications: footprint.notifications.count, receipts: footprint.receipts.count,
            usage: footprint.usage.count, answers: footprint.answers.count,
            events: try footprint.apply("UPDATE event SET user = NULL", database),
            isWithdrawalKept: isWithdrawalKept, isRescissionKept: try isRescinded(database))
    }

    /// Whether the user's last word is a withdrawal, or an earlier erasure left one.
    private func isWithdrawn(_ database: SQLDatabase) throws -> Bool {
        let latest = try ConsentRow.latest(app: app, user: footprint.user, from: database)
        if !latest.isEmpty { return latest.contains { !$0.isConsented } }
        return try tombstones.isErased(footprint.user, app: app, in: database)
    }

    /// Whether a guardian's rescission stays for one of the user's Apple Accounts.
    private func isRescinded(_ database: SQLDatabase) throws -> Bool {
        try footprint.accounts.contains { account in
            try AppStoreEnvironment.allCases.contains { environment in
                try RescissionRow.latest(of: account, app: app, environment, tombstones, in: database) != nil
            }
        }
    }

    /// Deliveries as they now are.
    private func again(_ deliveries: [Delivery], _ database: SQLDatabase) throws -> [Delivery] {
        try deliveries.compactMap { try DeliveryRow.fetch(app: app, id: $0.id, from: database)?.delivery }
    }
}

extension CaseRow {
    /// Removes the user and whatever may name it.
    fileprivate static func erase(_ refundCase: RefundCase, in database: SQLDatabase) throws {
        try database.cachedStatement(
            sql: "UPDATE refundCase SET owner = NULL, appAccountToken = NULL, declineNote = NULL WHERE id = ?"
        ).execute(arguments: [refundCase.id])
    }
}

extension QuarantineRow {
    fileprivate static func remove(_ positions: [Int64], from database: SQLDatabase) throws {
        let statement = try database.cachedStatement(sql: "DELETE FROM quarantine WHERE position = ?")
        for position in positions { try statement.execute(arguments: [position]) }
    }
}

extension NotificationRow {
    /// Removes the user, the tokens and every signed form.
    fileprivate static func erase(_ positions: [Int64], in database: SQLDatabase) throws {
        for position in positions {
            try database.cachedStatement(
                sql: "UPDATE notification SET user = NULL, appAccountToken = NULL WHERE position = ?"
            ).execute(arguments: [position])
            try database.cachedStatement(sql: contentErasure).execute(arguments: [position])
        }
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

    /// Removes the user, the content, whatever may name the user, and what a policy used of what was reported.
    fileprivate func erase(_ spellings: [UserID], in database: SQLDatabase) throws {
        guard
            let row = try SQLRow.fetchOne(
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
        // The rule's name stays: reports tell by it what the company did.
        let policy = try delivery.policy.map { try PolicyTrace(rule: $0.rule, facts: [], usageAt: nil).storedFacts }
        try database.cachedStatement(
            sql: """
                UPDATE delivery SET user = ?, acceptedFor = ?, body = x'', appAccountToken = NULL, failure = ?,
                    cancellation = ?, policyFacts = ?
                WHERE id = ?
                """
        ).execute(arguments: [user, acceptedFor, texts[0], texts[1], policy, delivery.id])
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
