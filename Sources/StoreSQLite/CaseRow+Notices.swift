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
