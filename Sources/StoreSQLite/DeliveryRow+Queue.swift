import Domain
import Foundation
import GRDB

// The queue of deliveries. A queued one is ready, and then stands in the order of deadlines, or waits for its next attempt.
// No step looks at more rows than its bound, however many are queued.

extension DeliveryRow {
    /// How many waiting deliveries become ready in one operation.
    static let promotionBound = 1000
    /// How many ready deliveries one look passes over.
    static let walkBound = 5000

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

    /// Claims ready deliveries, as `DeliveryStore.claimDeliveries` says.
    static func claim(_ claim: DeliveryClaim, in database: Database) throws -> DeliveryClaim.Result {
        let isMoreDue = try promote(at: claim.now, in: database)
        let (ids, next) = try claimable(claim, in: database)
        let update = try database.cachedStatement(
            sql: """
                UPDATE delivery SET state = 'sending', isReady = NULL, worker = ?, claimedAt = ?, leaseUntil = ?
                WHERE id = ?
                """)
        var claimed: [Delivery] = []
        for id in ids {
            try update.execute(
                arguments: [claim.worker, claim.now.milliseconds, claim.leaseUntil.milliseconds, id])
            claimed += try list(database, sql: "SELECT * FROM delivery WHERE id = ?", arguments: [id]).map(\.delivery)
        }
        let start = DeliveryClaim.Position(deadline: claim.now, id: "")
        return DeliveryClaim.Result(
            deliveries: claimed, next: next ?? (isMoreDue && ids.count < claim.limit ? start : nil))
    }

    /// Which deliveries may be claimed, and where the look goes on if it reached its bound.
    private static func claimable(
        _ claim: DeliveryClaim, in database: Database
    ) throws -> (ids: [String], next: DeliveryClaim.Position?) {
        let walk = try database.cachedStatement(
            sql: """
                SELECT deadline, id, app, environment, transactionId FROM delivery
                WHERE isReady = 1 AND deadline > ? AND (deadline, id) > (?, ?) ORDER BY deadline, id LIMIT ?
                """)
        let now = claim.now.milliseconds
        let entries = try Row.fetchCursor(
            walk, arguments: [now, claim.after?.deadline.milliseconds ?? now, claim.after?.id ?? "", walkBound])
        let sending = try database.cachedStatement(
            sql: "SELECT 1 FROM delivery WHERE state = 'sending' AND app = ? AND transactionId = ?")
        var ids: [String] = []
        var claimed: Set<[String]> = []
        var count = 0
        while ids.count < claim.limit, let entry = try entries.next() {
            count += 1
            let id: String = try entry.decode(forColumn: "id")
            let app: String = try entry.decode(forColumn: "app")
            if try !claim.skipping.contains(DeliveryLane(app: app, environment: entry.knownIfPresent("environment"))) {
                let transaction: String = try entry.decode(forColumn: "transactionId")
                let isFree = try Int.fetchOne(sending, arguments: [app, transaction]) == nil
                if isFree, claimed.insert([app, transaction]).inserted { ids.append(id) }
            }
            guard count < walkBound else {
                return (ids, DeliveryClaim.Position(deadline: try entry.date("deadline"), id: id))
            }
        }
        return (ids, nil)
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
