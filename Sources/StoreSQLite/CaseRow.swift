import Domain
import Foundation
import GRDB

/// A refund case as it stands in its tables.
struct CaseRow: Sendable {
    let refundCase: RefundCase

    /// Reads a row with all columns, and the requests that belong to it.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    init(_ row: Row, from database: Database) throws {
        let id: String = try row.value("id")
        refundCase = RefundCase(
            id: id, app: try row.value("app"), environment: try row.known("environment"),
            transactionID: try row.value("transactionId"), purchase: try row.purchase(),
            owner: try row.userIfPresent("owner"), state: try row.known("state"),
            reason: try row.value("reason"), requestedAt: try row.date("requestedAt"),
            openedAt: try row.date("openedAt"), deadline: try row.date("deadline"),
            requests: try Self.requests(of: id, from: database), decline: try Self.decline(row),
            outcome: try row.knownIfPresent("outcome"), decidedAt: try row.dateIfPresent("decidedAt"))
    }

    /// A case of an app.
    static func fetch(app: String, id: String, from database: Database) throws -> RefundCase? {
        try list(database, sql: "SELECT * FROM refundCase WHERE id = ? AND app = ?", arguments: [id, app]).first
    }

    /// Every case of a transaction, in one environment or in both.
    static func ofTransaction(
        app: String, id: String, _ environment: AppStoreEnvironment?, from database: Database
    ) throws -> [RefundCase] {
        try list(
            database,
            sql: "SELECT * FROM refundCase WHERE app = ? AND transactionId = ? ORDER BY deadline, id",
            arguments: [app, id]
        ).filter { environment == nil || $0.environment == environment }
    }

    /// The cases that a query for all columns gives.
    static func list(_ database: Database, sql: String, arguments: StatementArguments) throws -> [RefundCase] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map {
            try CaseRow($0, from: database).refundCase
        }
    }

    private static func requests(of id: String, from database: Database) throws -> [RefundCase.Request] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM caseRequest WHERE caseId = ? ORDER BY signedAt, notificationUuid")
        return try Row.fetchAll(statement, arguments: [id]).map { row in
            RefundCase.Request(
                notificationUUID: try row.value("notificationUuid"), signedAt: try row.date("signedAt"),
                receivedAt: try row.date("receivedAt"), reason: try row.value("reason"))
        }
    }

    private static func decline(_ row: Row) throws -> RefundCase.Decline? {
        guard let at = try row.dateIfPresent("declineAt") else { return nil }
        return RefundCase.Decline(
            caller: try row.value("declineCaller"),
            note: try row.value("declineNote", as: Data?.self).map { String(decoding: $0, as: UTF8.self) },
            at: at)
    }
}
