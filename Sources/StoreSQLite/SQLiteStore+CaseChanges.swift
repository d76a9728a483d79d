package import Domain
package import Foundation
import GRDB

extension SQLiteStore: CaseStore {
    package func decline(
        app: String, id: String, _ decline: RefundCase.Decline
    ) async throws(ServiceError) -> CaseDeclineResult? {
        try await write("decline a case") { database in
            guard var known = try CaseRow.fetch(app: app, id: id, from: database) else { return nil }
            switch known.state {
            case .answered, .expired, .decided: return .closed(known)
            case .declined: break
            case .open:
                known.state = .declined
                known.decline = RefundCase.Decline(caller: decline.caller, note: decline.note, at: decline.at.asStored)
                try CaseRow.save(known, at: decline.at, in: database)
                try EventRow.append(CaseRow.event(.caseDeclined, of: known, at: decline.at), to: database)
            }
            // Again for a declined case, since what is being sent may not have ended yet.
            let ended = try DeliveryRow.cancel(
                caseID: id, app: app,
                because: DeliveryFailure(reason: .caseClosed, message: "The case was declined."), at: decline.at,
                in: database)
            return .declined(known, cancelled: ended.cancelled.map(\.id), sending: ended.sending.map(\.id))
        }
    }

    package func unansweredCases(
        app: String, environment: AppStoreEnvironment, deadlineBefore: Date, limit: Int
    ) async throws(ServiceError) -> [RefundCase] {
        try await read("look for cases without an answer") { database in
            try CaseRow.list(
                database,
                sql: """
                    SELECT * FROM refundCase
                    WHERE app = ? AND environment = ? AND state = 'open' AND deadline < ? AND +owner IS NOT NULL
                        AND NOT EXISTS (
                            SELECT 1 FROM delivery
                            WHERE delivery.caseId = refundCase.id AND delivery.state IN ('queued', 'sending'))
                    ORDER BY deadline LIMIT ?
                    """,
                arguments: [app, environment.rawValue, deadlineBefore.milliseconds, limit])
        }
    }
}
