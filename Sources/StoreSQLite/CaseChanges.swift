import Domain
import Foundation
import GRDB

extension CaseRow {
    /// Asks `CaseRules` what a notice changes, and changes it; writes the events, and cancels deliveries of what Apple decided.
    static func apply(
        _ notice: CaseRules.Notice, owner: UserID?, newID: String, at now: Date, in database: Database
    ) throws -> CaseRules.Change {
        var situation = CaseRules.Situation()
        situation.cases = try ofTransaction(
            app: notice.app, id: notice.purchase.transactionID, notice.purchase.environment, from: database)
        situation.outcomes = try outcomes(before: notice, from: database)
        situation.owner = owner
        let change = CaseRules.change(notice, situation, newID: newID)
        switch change {
        case .none: break
        case .open(let new): try open(new, at: now, in: database)
        case .remind(let known):
            try save(known, at: now, in: database)
            try EventRow.append(event(.caseReminded, of: known, at: now), to: database)
            let wasOpen = situation.cases.contains { $0.id == known.id && $0.state == .open }
            if wasOpen { try tellEnd(of: known, at: now, in: database) }
        case .decide(let decided):
            try save(decided, at: now, in: database)
            try tellEnd(of: decided, at: now, in: database)
            _ = try DeliveryRow.cancel(
                caseID: decided.id, app: decided.app,
                because: DeliveryFailure(reason: .caseClosed, message: "Apple has decided about the refund."), at: now,
                in: database)
        case .separate(let decided, let new):
            try save(decided, at: now, in: database)
            try tellEnd(of: decided, at: now, in: database)
            try open(new, at: now, in: database)
        }
        return change
    }

    private static func open(_ new: RefundCase, at now: Date, in database: Database) throws {
        try save(new, at: now, in: database)
        try EventRow.append(event(.caseOpened, of: new, at: now), to: database)
        try tellEnd(of: new, at: now, in: database)
    }

    /// Writes the event of a case that is over by its own dates or by Apple's decision.
    private static func tellEnd(of refundCase: RefundCase, at now: Date, in database: Database) throws {
        let kind: ServiceEvent.Kind? =
            switch refundCase.state {
            case .expired: .caseExpired
            case .decided: .caseDecided
            case .open, .answered, .declined: nil
            }
        if let kind { try EventRow.append(event(kind, of: refundCase, at: now), to: database) }
    }

    /// What Apple decided about the transaction, by notifications that have been processed.
    private static func outcomes(
        before notice: CaseRules.Notice, from database: Database
    ) throws -> [(outcome: RefundCase.Outcome, signedAt: Date)] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT type, coalesce(signedDate, transactionSignedDate) AS signedAt FROM notification
                    WHERE app = ? AND transactionId = ? AND environment = ? AND processedAt IS NOT NULL
                    """),
            arguments: [notice.app, notice.purchase.transactionID, notice.purchase.environment.rawValue])
        return try rows.compactMap { row in
            let message = CaseRules.Message(
                type: try row.value("type"), consumptionRequestReason: nil)
            guard case .outcome(let outcome) = message else { return nil }
            return (outcome, try row.date("signedAt"))
        }
    }
}

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
