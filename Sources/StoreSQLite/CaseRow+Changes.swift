import Domain
import Foundation
import GRDB

extension CaseRow {
    /// Keeps a case: a new one, or one in the place of what stands under its id.
    ///
    /// `now` counts as the end of its earlier state if the state is another one.
    static func save(_ refundCase: RefundCase, at now: Date, in database: Database) throws {
        let purchase = refundCase.purchase
        let statement = try database.cachedStatement(sql: saving)
        try statement.execute(
            arguments: [
                refundCase.id, refundCase.app, refundCase.environment.rawValue, refundCase.transactionID,
                purchase.originalTransactionID, purchase.appTransactionID, purchase.appAccountToken,
                purchase.productID, purchase.productType?.rawValue, purchase.purchaseDate.milliseconds,
                purchase.isFamilyShared, purchase.isAdvancedCommerce, refundCase.owner.map(LinkRow.bytes),
                refundCase.state.rawValue, refundCase.reason, refundCase.requestedAt.milliseconds,
                refundCase.openedAt.milliseconds, refundCase.deadline.milliseconds, refundCase.decline?.caller,
                refundCase.decline?.note.map { Data($0.utf8) }, refundCase.decline?.at.milliseconds,
                refundCase.outcome?.rawValue, refundCase.decidedAt?.milliseconds,
                refundCase.state == .open ? nil : now.milliseconds,
            ])
        try database.cachedStatement(sql: "DELETE FROM caseRequest WHERE caseId = ?")
            .execute(arguments: [refundCase.id])
        let request = try database.cachedStatement(
            sql: """
                INSERT INTO caseRequest (caseId, signedAt, notificationUuid, receivedAt, reason) VALUES (?, ?, ?, ?, ?)
                """)
        for one in refundCase.requests {
            try request.execute(
                arguments: [
                    refundCase.id, one.signedAt.milliseconds, one.notificationUUID, one.receivedAt.milliseconds,
                    one.reason,
                ])
        }
    }

    private static let saving = """
        INSERT INTO refundCase
            (id, app, environment, transactionId, originalTransactionId, appTransactionId, appAccountToken, productId,
             productType, purchaseDate, isFamilyShared, isAdvancedCommerce, owner, state, reason, requestedAt, openedAt,
             deadline, declineCaller, declineNote, declineAt, outcome, decidedAt, closedAt)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET
            owner = excluded.owner, state = excluded.state, reason = excluded.reason,
            requestedAt = excluded.requestedAt, deadline = excluded.deadline, declineCaller = excluded.declineCaller,
            declineNote = excluded.declineNote, declineAt = excluded.declineAt, outcome = excluded.outcome,
            decidedAt = excluded.decidedAt,
            closedAt = CASE WHEN state = excluded.state THEN closedAt ELSE excluded.closedAt END
        """

    /// Makes a case `answered` if it is open, since Apple has accepted an answer; writes the event.
    ///
    /// - Returns: whether it was open.
    @discardableResult
    static func markAnswered(app: String, id: String, at now: Date, in database: Database) throws -> Bool {
        try change(app: app, id: id, to: .answered, .caseAnswered, at: now, in: database) != nil
    }

    /// Takes an open case to another state and writes the event.
    ///
    /// - Returns: the case as it now is; nil when there is none that is open.
    static func change(
        app: String, id: String, to state: RefundCase.State, _ kind: ServiceEvent.Kind, at now: Date,
        in database: Database
    ) throws -> RefundCase? {
        guard var refundCase = try fetch(app: app, id: id, from: database), refundCase.state == .open else {
            return nil
        }
        refundCase.state = state
        try database.cachedStatement(sql: "UPDATE refundCase SET state = ?, closedAt = ? WHERE id = ?")
            .execute(arguments: [state.rawValue, now.milliseconds, id])
        try EventRow.append(event(kind, of: refundCase, at: now), to: database)
        return refundCase
    }

    /// What happened to a case.
    static func event(_ kind: ServiceEvent.Kind, of refundCase: RefundCase, at now: Date) -> ServiceEvent {
        ServiceEvent(
            app: refundCase.app, kind: kind, subject: refundCase.id, at: now, environment: refundCase.environment,
            transactionID: refundCase.transactionID, user: refundCase.owner, caseID: refundCase.id,
            detail: kind == .caseDecided ? refundCase.outcome?.rawValue : nil)
    }
}
