import Domain
import Foundation

extension CaseRow {
    /// Writes what a notice did to cases, and the events.
    static func carryOut(
        _ change: CaseRules.Change, _ before: [RefundCase], at now: Date, in database: SQLDatabase
    ) throws {
        switch change {
        case .none: break
        case .open(let new): try open(new, at: now, in: database)
        case .remind(let known):
            try save(known, at: now, in: database)
            try EventRow.append(event(.caseReminded, of: known, at: now), to: database)
            let wasOpen = before.contains { $0.id == known.id && $0.state == .open }
            if wasOpen { try tellEnd(of: known, at: now, in: database) }
        case .decide(let decided):
            try save(decided, at: now, in: database)
            try tellEnd(of: decided, at: now, in: database)
        case .separate(let decided, let new):
            try save(decided, at: now, in: database)
            try tellEnd(of: decided, at: now, in: database)
            try open(new, at: now, in: database)
        }
    }

    private static func open(_ new: RefundCase, at now: Date, in database: SQLDatabase) throws {
        try save(new, at: now, in: database)
        try EventRow.append(event(.caseOpened, of: new, at: now), to: database)
        try tellEnd(of: new, at: now, in: database)
    }

    /// Writes the event of a case that is over by its own dates or by Apple's decision.
    private static func tellEnd(of refundCase: RefundCase, at now: Date, in database: SQLDatabase) throws {
        let kind: ServiceEvent.Kind? =
            switch refundCase.state {
            case .expired: .caseExpired
            case .decided: .caseDecided
            case .open, .answered, .declined: nil
            }
        if let kind { try EventRow.append(event(kind, of: refundCase, at: now), to: database) }
    }

    /// The types of notifications that tell what Apple decided.
    static let outcomeTypes = "'REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED'"

    /// What Apple decided about a purchase, by notifications that have been processed.
    static func outcomes(
        of purchase: PurchaseFacts, app: String, from database: SQLDatabase
    ) throws -> [CaseRules.Decision] {
        let rows = try SQLRow.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT *, coalesce(signedDate, transactionSignedDate) AS signedAt FROM notification
                    WHERE app = ? AND originalTransactionId = ? AND processedAt IS NOT NULL
                        AND +type IN (\(outcomeTypes)) AND \(PurchaseRow.samePurchase)
                    """),
            arguments: [app, purchase.originalTransactionID] + PurchaseRow.samePurchase(as: purchase))
        return try rows.compactMap { row in
            let message = CaseRules.Message(type: try row.value("type"), consumptionRequestReason: nil)
            guard case .outcome(let outcome) = message, try row.purchase().isSamePurchase(as: purchase) else {
                return nil
            }
            return CaseRules.Decision(
                outcome: outcome, signedAt: try row.date("signedAt"),
                revocationPercentage: outcome == .refunded ? try row.value("revocationPercentage") : nil)
        }
    }
}

extension CaseRow {
    /// Keeps a case: a new one, or one in the place of what stands under its id.
    ///
    /// `now` counts as the end of its earlier state if the state is another one.
    static func save(_ refundCase: RefundCase, at now: Date, in database: SQLDatabase) throws {
        let purchase = refundCase.purchase
        let statement = try database.cachedStatement(sql: saving)
        try statement.execute(
            arguments: [
                refundCase.id, refundCase.app, refundCase.environment.rawValue, refundCase.transactionID,
                purchase.originalTransactionID, purchase.webOrderLineItemID, purchase.appTransactionID,
                purchase.appAccountToken, purchase.productID, purchase.productType?.rawValue,
                purchase.purchaseDate.milliseconds, purchase.expiresDate?.milliseconds, purchase.isFamilyShared,
                purchase.isAdvancedCommerce, refundCase.owner.map(LinkRow.bytes),
                refundCase.state.rawValue, refundCase.reason, refundCase.requestedAt.milliseconds,
                refundCase.openedAt.milliseconds, refundCase.deadline.milliseconds, refundCase.decline?.caller,
                refundCase.decline?.note.map { Data($0.utf8) }, refundCase.decline?.at.milliseconds,
                refundCase.outcome?.rawValue, refundCase.decidedAt?.milliseconds,
                refundCase.state == .open ? nil : now.milliseconds, refundCase.terms.price, refundCase.terms.currency,
                refundCase.terms.storefront, refundCase.revocationPercentage,
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
            (id, app, environment, transactionId, originalTransactionId, webOrderLineItemId, appTransactionId,
             appAccountToken, productId, productType, purchaseDate, expiresDate, isFamilyShared, isAdvancedCommerce, owner,
             state, reason, requestedAt, openedAt, deadline, declineCaller, declineNote, declineAt, outcome, decidedAt,
             closedAt, price, currency, storefront, revocationPercentage)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET
            appTransactionId = excluded.appTransactionId, owner = excluded.owner, state = excluded.state, reason = excluded.reason,
            requestedAt = excluded.requestedAt, deadline = excluded.deadline, declineCaller = excluded.declineCaller,
            declineNote = excluded.declineNote, declineAt = excluded.declineAt, outcome = excluded.outcome,
            decidedAt = excluded.decidedAt, price = excluded.price, currency = excluded.currency,
            storefront = excluded.storefront, revocationPercentage = excluded.revocationPercentage,
            closedAt = CASE WHEN refundCase.state = excluded.state THEN refundCase.closedAt ELSE excluded.closedAt END
        """

    /// Makes a case `answered`, since Apple has accepted an answer, unless it is declined or decided; writes the event.
    static func markAnswered(app: String, id: String, at now: Date, in database: SQLDatabase) throws {
        _ = try change(app: app, id: id, from: [.open, .expired], to: .answered, .caseAnswered, at: now, in: database)
    }

    /// Takes a case to another state and writes the event.
    ///
    /// - Returns: the case as it now is; nil when there is none in one of the states that it may leave.
    static func change(
        app: String, id: String, from states: [RefundCase.State] = [.open], to state: RefundCase.State,
        _ kind: ServiceEvent.Kind, at now: Date,
        in database: SQLDatabase
    ) throws -> RefundCase? {
        guard var refundCase = try fetch(app: app, id: id, from: database), states.contains(refundCase.state)
        else { return nil }
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
