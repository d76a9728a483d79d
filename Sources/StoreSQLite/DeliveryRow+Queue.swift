import Domain
import Foundation
import GRDB

// The queue of deliveries. A queued one is ready, and then stands in the order of deadlines, or waits for its next attempt.
// No step looks at more rows than its bound, however many are queued.

extension DeliveryRow {
    /// How many waiting deliveries become ready in one operation.
    static let promotionBound = 1000

    /// Whether something has expired, or may have once it is made ready.
    static func isAnythingOver(at now: Date, in database: Database) throws -> Bool {
        let now = now.milliseconds
        return try [
            ("SELECT 1 FROM delivery WHERE isReady = 1 AND deadline <= ? LIMIT 1", [now]),
            ("SELECT 1 FROM delivery WHERE isReady = 0 AND dueAt <= ? LIMIT 1", [now]),
            (
                "SELECT 1 FROM delivery WHERE state = 'sending' AND app > '' AND deadline <= ? AND leaseUntil <= ? LIMIT 1",
                [now, now]
            ),
        ].contains { try Int.fetchOne(database.cachedStatement(sql: $0), arguments: StatementArguments($1)) != nil }
    }

    /// Makes deliveries ready whose next attempt is due or whose deadline has come, longest due first.
    ///
    /// - Returns: whether the bound was reached, so that there may be more.
    static func promote(at now: Date, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE delivery SET isReady = 1, dueAt = NULL WHERE rowid IN (
                    SELECT rowid FROM delivery WHERE isReady = 0 AND dueAt <= ? ORDER BY dueAt LIMIT ?)
                """)
        try statement.execute(arguments: [now.milliseconds, promotionBound])
        return database.changesCount == promotionBound
    }

    /// Whether the time of a waiting delivery has come.
    static func isAnythingDue(at now: Date, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM delivery WHERE isReady = 0 AND dueAt <= ? LIMIT 1")
        return try Int.fetchOne(statement, arguments: [now.milliseconds]) != nil
    }

    /// Claims those of some deliveries that are still ready, unless another one of the same transaction is being sent.
    static func claim(_ ids: [String], for claim: DeliveryClaim, in database: Database) throws -> [Delivery] {
        let update = try database.cachedStatement(
            sql: """
                UPDATE delivery SET state = 'sending', isReady = NULL, worker = ?, claimedAt = ?, leaseUntil = ?
                WHERE id = ? AND isReady = 1 AND NOT EXISTS (
                    SELECT 1 FROM delivery AS other WHERE other.state = 'sending' AND other.app = delivery.app
                        AND other.transactionId = delivery.transactionId)
                """)
        var claimed: [Delivery] = []
        for id in ids {
            try update.execute(
                arguments: [claim.worker, claim.now.milliseconds, claim.leaseUntil.milliseconds, id])
            guard database.changesCount == 1 else { continue }
            claimed += try list(database, sql: "SELECT * FROM delivery WHERE id = ?", arguments: [id]).map(\.delivery)
        }
        return claimed
    }

    /// When a queued delivery that is not due yet becomes due, or the next deadline of a queued one passes.
    static func nextEvent(after now: Date, in database: Database) throws -> Date? {
        let now = now.milliseconds
        let times = [
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT dueAt FROM delivery WHERE isReady = 0 AND dueAt > ? ORDER BY dueAt LIMIT 1"),
                arguments: [now]),
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT deadline FROM delivery WHERE isReady = 1 AND deadline > ? ORDER BY deadline LIMIT 1"),
                arguments: [now]),
            // Due, but not made ready by a claim yet.
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT min(deadline) FROM (
                            SELECT deadline FROM delivery WHERE isReady = 0 AND dueAt <= ? ORDER BY dueAt LIMIT ?)
                        WHERE deadline > ?
                        """),
                arguments: [now, promotionBound, now]),
        ]
        return times.compactMap(\.self).min().map(Date.init(milliseconds:))
    }

    /// Deliveries that are being sent under a claim that a condition names; they are few.
    static func sending(_ condition: String, _ arguments: StatementArguments, in database: Database) throws
        -> [DeliveryRow]
    {
        // `app > ''` names the partial index's first column, so that it is searched.
        try list(
            database,
            sql:
                "SELECT * FROM delivery WHERE state = 'sending' AND app > '' AND \(condition) ORDER BY app, transactionId",
            arguments: arguments)
    }

    /// Ends a claim that its worker does not come back for: it may have sent the delivery.
    func interrupted(as state: Delivery.State, because failure: DeliveryFailure?, at now: Date, in database: Database)
        throws -> Delivery
    {
        var given = self
        given.delivery.mayHaveReachedApple = true
        let attempt = claim.map { DeliveryAttempt.interrupted(startedAt: $0.at) }
        let attempts = attempt.map { [$0] } ?? []
        if state != .queued {
            return try given.end(as: state, because: failure, adding: attempts, at: now, in: database)
        }
        given.delivery.state = .queued
        given.delivery.nextAttemptAt = now.asStored
        return try save(given.delivery, adding: attempts, at: now, in: database)
    }
}
