import Domain
import Foundation
import GRDB

/// A delivery as it stands in its tables, with its claim.
struct DeliveryRow: Sendable {
    var delivery: Delivery
    /// Who sends it at this moment, and since when; nil unless it is being sent.
    let claim: (worker: String, at: Date)?
    /// Why its end was asked for while it was being sent.
    let cancellation: DeliveryFailure?

    /// Reads a row with all columns, and the attempts that belong to it.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    init(_ row: Row, from database: Database) throws {
        let id: String = try row.value("id")
        let isPurchaseKnown = try row.value("originalTransactionId", as: String?.self) != nil
        delivery = Delivery(
            id: id, app: try row.value("app"), caseID: try row.value("caseId"),
            user: try row.userIfPresent("user"), caller: try row.value("caller"),
            transactionID: try row.value("transactionId"),
            environment: try row.knownIfPresent("environment"), purchase: isPurchaseKnown ? try row.purchase() : nil,
            version: try row.known("version"), body: try row.bytes("body"), state: try row.known("state"),
            createdAt: try row.date("createdAt"), deadline: try row.date("deadline"),
            nextAttemptAt: try row.dateIfPresent("nextAttemptAt"),
            attempts: try AttemptRow.list(of: id, from: database),
            attemptCount: try row.value("attemptCount"),
            mayHaveReachedApple: try row.value("mayHaveReachedApple"),
            warnings: try Self.warnings(row.value("warnings", as: Data?.self)),
            failure: try row.value("failure", as: Data?.self).map(DeliveryFailure.init(stored:)),
            endedAt: try row.dateIfPresent("endedAt"))
        claim = try row.value("worker", as: String?.self).map { ($0, try row.date("claimedAt")) }
        cancellation = try row.value("cancellation", as: Data?.self).map(DeliveryFailure.init(stored:))
    }

    private static func warnings(_ stored: Data?) throws -> [String] {
        try stored.map { try JSONDecoder().decode([String].self, from: $0) } ?? []
    }

    /// A delivery of an app.
    static func fetch(app: String, id: String, from database: Database) throws -> DeliveryRow? {
        try list(database, sql: "SELECT * FROM delivery WHERE id = ? AND app = ?", arguments: [id, app]).first
    }

    /// Every delivery of a case, oldest first.
    static func ofCase(id: String, app: String, from database: Database) throws -> [Delivery] {
        try rows(ofCase: id, app: app, from: database).map(\.delivery)
    }

    static func rows(ofCase id: String, app: String, from database: Database) throws -> [DeliveryRow] {
        try list(
            database, sql: "SELECT * FROM delivery WHERE caseId = ? AND +app = ? ORDER BY id", arguments: [id, app])
    }

    /// The deliveries that a query for all columns gives.
    static func list(_ database: Database, sql: String, arguments: StatementArguments) throws -> [DeliveryRow] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map {
            try DeliveryRow($0, from: database)
        }
    }
}
