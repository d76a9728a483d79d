package import Domain
package import Foundation

// The queue of deliveries. A queued one is ready, and then stands in the order of deadlines, or waits for its next attempt.
// No step looks at more rows than its bound, however many are queued.

extension SQLStore {
    package func claimDeliveries(_ claim: DeliveryClaim) async throws(ServiceError) -> DeliveryClaim.Result {
        guard tombstones.hold == nil else { return DeliveryClaim.Result(deliveries: [], next: nil) }
        var isMoreDue = false
        if try await read("look for what has become due", { try DeliveryRow.isAnythingDue(at: claim.now, in: $0) }) {
            isMoreDue = try await write("make deliveries ready") { try DeliveryRow.promote(at: claim.now, in: $0) }
        }
        let start = DeliveryClaim.Position(deadline: claim.now, id: "")
        while true {
            // Past thousands of app environments that rest a look takes its time, which must not be the writer's.
            let look = try await read("look for deliveries to send") { database in
                try SendingHoldRow.fetch(from: database) == nil ? DueDeliveries(claim, in: database).finding : nil
            }
            guard let look else { return DeliveryClaim.Result(deliveries: [], next: nil) }
            var claimed: [Delivery] = []
            if !look.ids.isEmpty {
                claimed = try await write("claim deliveries") { [sharing] database in
                    guard try SendingHoldRow.fetch(from: database) == nil else { return [] }
                    return try DeliveryRow.claim(
                        look.ids, for: claim,
                        until: sharing.time(claim.now, in: database).advanced(by: claim.lease), in: database)
                }
                // Somebody else was quicker, and got on.
                if claimed.isEmpty { continue }
            }
            return DeliveryClaim.Result(
                deliveries: claimed, next: look.next ?? (isMoreDue && look.ids.count < claim.limit ? start : nil),
                appEnvironments: look.appEnvironments)
        }
    }

    package func nextDeliveryEvent(after now: Date) async throws(ServiceError) -> Date? {
        try await read("find the next due delivery") { try DeliveryRow.nextEvent(after: now, in: $0) }
    }
}

extension DeliveryRow {
    /// How many waiting deliveries become ready in one operation.
    static let promotionBound = 1000

    /// Makes deliveries ready whose next attempt is due or whose deadline has come, longest due first.
    ///
    /// - Returns: whether the bound was reached, so that there may be more.
    static func promote(at now: Date, in database: SQLDatabase) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE delivery SET isReady = 1, dueAt = NULL WHERE rowid IN (
                    SELECT rowid FROM delivery WHERE isReady = 0 AND dueAt <= ? ORDER BY dueAt LIMIT ?)
                """)
        try statement.execute(arguments: [now.milliseconds, promotionBound])
        return database.changesCount == promotionBound
    }

    /// Whether the time of a waiting delivery has come.
    static func isAnythingDue(at now: Date, in database: SQLDatabase) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM delivery WHERE isReady = 0 AND dueAt <= ? LIMIT 1")
        return try Int.fetchOne(statement, arguments: [now.milliseconds]) != nil
    }

    /// Claims those of some deliveries that are still ready, unless another one of the same transaction is being sent.
    ///
    /// `end`: when the lease ends.
    static func claim(
        _ ids: [String], for claim: DeliveryClaim, until end: Date, in database: SQLDatabase
    ) throws -> [Delivery] {
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
                arguments: [claim.worker, claim.now.milliseconds, end.milliseconds, id])
            guard database.changesCount == 1 else { continue }
            claimed += try list(
                database, sql: "SELECT \(DeliveryRow.columns) FROM delivery WHERE id = ?", arguments: [id]
            ).map(\.delivery)
        }
        return claimed
    }

    /// When a queued delivery that is not due yet becomes due, or the next deadline of a queued one passes.
    static func nextEvent(after now: Date, in database: SQLDatabase) throws -> Date? {
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
                            SELECT deadline FROM delivery WHERE isReady = 0 AND dueAt <= ? ORDER BY dueAt LIMIT ?) AS due
                        WHERE deadline > ?
                        """),
                arguments: [now, promotionBound, now]),
        ]
        return times.compactMap(\.self).min().map(Date.init(milliseconds:))
    }
}

// MARK: The hold

extension SQLStore {
    package func sendingHold() async throws(ServiceError) -> SendingHold? {
        // The one that nobody can release comes first.
        if let hold = tombstones.hold { return hold }
        return try await read("read whether sending is held") { try SendingHoldRow.fetch(from: $0) }
    }

    package func releaseSending(by operatorName: String, at now: Date) async throws(ServiceError) -> SendingHold? {
        try await write("release sending") { database in
            guard let hold = try SendingHoldRow.fetch(from: database) else { return nil }
            try SendingHoldRow.release(by: operatorName, at: now, in: database)
            return hold
        }
    }
}

/// The order to send nothing, as it stands in its table.
package enum SendingHoldRow {
    /// The hold that is in force, if any.
    package static func fetch(from database: SQLDatabase) throws -> SendingHold? {
        let statement = try database.cachedStatement(
            sql: "SELECT since, reason FROM sendingHold WHERE releasedAt IS NULL AND since > 0 ORDER BY since LIMIT 1")
        return try SQLRow.fetchOne(statement).map { row in
            SendingHold(since: try row.date("since"), reason: try row.value("reason"))
        }
    }

    /// Holds sending.
    package static func insert(_ hold: SendingHold, into database: SQLDatabase) throws {
        try database.execute(
            sql: "INSERT INTO sendingHold (since, reason) VALUES (?, ?)",
            arguments: [hold.since.milliseconds, hold.reason])
    }

    /// Takes a hold away as if it had never been.
    package static func delete(_ position: Int64, from database: SQLDatabase) throws {
        try database.execute(sql: "DELETE FROM sendingHold WHERE position = ?", arguments: [position])
    }

    /// Ends every hold that is in force.
    static func release(by operatorName: String, at now: Date, in database: SQLDatabase) throws {
        try database.execute(
            sql: "UPDATE sendingHold SET releasedAt = ?, releasedBy = ? WHERE releasedAt IS NULL AND since > 0",
            arguments: [now.milliseconds, operatorName])
    }
}
