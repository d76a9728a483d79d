package import Domain
package import Foundation
import GRDB

extension SQLiteStore: StoreMaintenance {
    package func enforceRetention(
        _ policy: RetentionPolicy, at now: Date, limit: Int
    ) async throws(ServiceError) -> RetentionResult {
        var result = RetentionResult()
        result.notifications = try await remove(Retention.notifications, policy.notifications, at: now, limit)
        result.quarantined = try await remove(Retention.quarantined, policy.notifications, at: now, limit)
        result.quarantined += try await remove(
            Retention.quarantineAtItsEnd, .zero, at: now, limit - result.quarantined)
        result.idempotencyKeys = try await remove(
            Retention.idempotencyKeys, .seconds(IdempotencyKey.lifetime), at: now, limit)
        result.attempts = try await remove(Retention.attempts, policy.attempts, at: now, limit)
        result.deliveries = try await remove(Retention.deliveries, policy.deliveries, at: now, limit)
        result.cases = try await remove(Retention.cases, policy.deliveries, at: now, limit)
        result.receipts = try await remove(Retention.receipts, policy.receipts, at: now, limit)
        result.usage = try await remove(Retention.usage, policy.usage, at: now, limit)
        try await enforceSandboxRetention(policy.sandbox, &result, at: now, limit: limit)
        result.events = try await remove(Retention.events, policy.events, at: now, limit)
        return result
    }

    /// Removes what is left of the Sandbox, to the same limits.
    private func enforceSandboxRetention(
        _ lifetime: Duration, _ result: inout RetentionResult, at now: Date, limit: Int
    ) async throws(ServiceError) {
        result.notifications += try await remove(
            Retention.sandboxNotifications, lifetime, at: now, limit - result.notifications)
        result.deliveries += try await remove(
            Retention.sandboxDeliveries, lifetime, at: now, limit - result.deliveries)
        result.cases += try await remove(Retention.sandboxCases, lifetime, at: now, limit - result.cases)
        result.receipts += try await remove(Retention.sandboxReceipts, lifetime, at: now, limit - result.receipts)
        result.usage += try await remove(Retention.sandboxUsage, lifetime, at: now, limit - result.usage)
    }

    /// One transaction for each kind, so that none keeps other writes waiting for long.
    private func remove(
        _ kind: @escaping @Sendable (Database, _ end: Date, _ limit: Int) throws -> Int, _ lifetime: Duration,
        at now: Date, _ limit: Int
    ) async throws(ServiceError) -> Int {
        let end = now.advanced(by: .zero - lifetime)
        return try await write("remove what is no longer kept") { try kind($0, end, limit) }
    }
}

/// Removes what is over and older than it is kept, in batches.
///
/// Each function takes the time before which it must have ended and the most rows, and returns how many went.
enum Retention {
    static func notifications(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM notification WHERE position IN (
                SELECT position FROM notification WHERE receivedAt < ? AND processedAt IS NOT NULL
                ORDER BY receivedAt LIMIT ?)
            """, end, limit)
    }

    /// Attempts of what goes on for longer than they are kept go as well.
    static func attempts(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM deliveryAttempt WHERE (deliveryId, number) IN (
                SELECT deliveryId, number FROM deliveryAttempt WHERE startedAt < ? ORDER BY startedAt LIMIT ?)
            """, end, limit)
    }

    /// A delivery takes its attempts with it, and stays as long as its case, whose answer it is.
    static func deliveries(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM delivery WHERE id IN (
                SELECT id FROM delivery
                WHERE endedAt < ?1 AND NOT EXISTS (
                    SELECT 1 FROM refundCase
                    WHERE refundCase.id = delivery.caseId AND (closedAt IS NULL OR closedAt >= ?1))
                ORDER BY endedAt LIMIT ?2)
            """, end, limit)
    }

    static func idempotencyKeys(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM idempotencyKey WHERE (caller, app, route, key) IN (
                SELECT caller, app, route, key FROM idempotencyKey WHERE createdAt < ? ORDER BY createdAt LIMIT ?)
            """, end, limit)
    }

    /// Cases go after their deliveries.
    static func cases(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM refundCase WHERE id IN (
                SELECT id FROM refundCase
                WHERE closedAt < ? AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.caseId = refundCase.id)
                ORDER BY closedAt LIMIT ?)
            """, end, limit)
    }

    /// Not those that Apple is still to be asked about.
    static func receipts(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM receipt WHERE position IN (
                SELECT position FROM receipt WHERE updatedAt < ? AND nextAttemptAt IS NULL
                ORDER BY updatedAt LIMIT ?)
            """, end, limit)
    }

    static func usage(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM usage WHERE position IN (
                SELECT position FROM usage WHERE recordedAt < ? ORDER BY recordedAt LIMIT ?)
            """, end, limit)
    }

    /// The first ones up to one that is kept, so that the positions of what is left have no gap.
    static func events(_ database: Database, before end: Date, limit: Int) throws -> Int {
        let first = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT position, at FROM event WHERE position > 0 ORDER BY position LIMIT ?"),
            arguments: [limit])
        let over = try first.prefix { try $0.date("at") < end }
        guard let last = over.last else { return 0 }
        let position: Int64 = try last.value("position")
        try database.cachedStatement(sql: "DELETE FROM event WHERE position <= ?").execute(arguments: [position])
        return over.count
    }

    static func quarantined(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM quarantine WHERE position IN (
                SELECT position FROM quarantine WHERE receivedAt < ? ORDER BY receivedAt LIMIT ?)
            """, end, limit)
    }

    /// What Apple's history does not hold any more goes earlier.
    static func quarantineAtItsEnd(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM quarantine WHERE position IN (
                SELECT position FROM quarantine WHERE keptUntil < ? ORDER BY keptUntil LIMIT ?)
            """, end, limit)
    }

    fileprivate static func remove(_ database: Database, _ sql: String, _ end: Date, _ limit: Int) throws -> Int {
        try database.cachedStatement(sql: sql).execute(arguments: [end.milliseconds, limit])
        return database.changesCount
    }
}

// What is the Sandbox's, by the same rules and by indexes of its own: testers' stories are over soon.

extension Retention {
    static func sandboxNotifications(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM notification WHERE position IN (
                SELECT position FROM notification
                WHERE environment = 'Sandbox' AND receivedAt < ? AND processedAt IS NOT NULL
                ORDER BY receivedAt LIMIT ?)
            """, end, limit)
    }

    static func sandboxDeliveries(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM delivery WHERE id IN (
                SELECT id FROM delivery WHERE environment = 'Sandbox' AND endedAt < ? ORDER BY endedAt LIMIT ?)
            """, end, limit)
    }

    static func sandboxCases(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM refundCase WHERE id IN (
                SELECT id FROM refundCase
                WHERE environment = 'Sandbox' AND closedAt < ?
                    AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.caseId = refundCase.id)
                ORDER BY closedAt LIMIT ?)
            """, end, limit)
    }

    static func sandboxReceipts(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM receipt WHERE position IN (
                SELECT position FROM receipt
                WHERE environment = 'Sandbox' AND updatedAt < ? AND nextAttemptAt IS NULL
                ORDER BY updatedAt LIMIT ?)
            """, end, limit)
    }

    static func sandboxUsage(_ database: Database, before end: Date, limit: Int) throws -> Int {
        try remove(
            database,
            """
            DELETE FROM usage WHERE position IN (
                SELECT position FROM usage WHERE environment = 'Sandbox' AND recordedAt < ?
                ORDER BY recordedAt LIMIT ?)
            """, end, limit)
    }
}
