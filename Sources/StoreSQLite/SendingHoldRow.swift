import Domain
import Foundation
import GRDB

/// The order to send nothing, as it stands in its table.
enum SendingHoldRow {
    /// The hold that is in force, if any.
    static func fetch(from database: Database) throws -> SendingHold? {
        let statement = try database.cachedStatement(
            sql: "SELECT since, reason FROM sendingHold WHERE releasedAt IS NULL AND since > 0 ORDER BY since LIMIT 1")
        return try Row.fetchOne(statement).map { row in
            SendingHold(since: try row.date("since"), reason: try row.value("reason"))
        }
    }

    /// Holds sending.
    static func insert(_ hold: SendingHold, into database: Database) throws {
        try database.execute(
            sql: "INSERT INTO sendingHold (since, reason) VALUES (?, ?)",
            arguments: [hold.since.milliseconds, hold.reason])
    }

    /// Ends every hold that is in force.
    static func release(by operatorName: String, at now: Date, in database: Database) throws {
        try database.execute(
            sql: "UPDATE sendingHold SET releasedAt = ?, releasedBy = ? WHERE releasedAt IS NULL AND since > 0",
            arguments: [now.milliseconds, operatorName])
    }
}
