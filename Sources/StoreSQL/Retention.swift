package import Domain
package import Foundation

extension SQLStore {
    package func enforceRetention(
        _ policy: RetentionPolicy, at now: Date, limit: Int
    ) async throws(ServiceError) -> RetentionResult {
        func remove(
            _ kind: Retention, of reach: Retention.Reach = .all, _ lifetime: Duration, upTo limit: Int
        ) async throws(ServiceError) -> Int {
            let end = now.advanced(by: .zero - lifetime)
            // One transaction for each kind, so that none keeps other writes waiting for long.
            return try await write("remove what is no longer kept") { database in
                try kind.remove(reach, before: end, limit: limit, from: database)
            }
        }
        /// What is over of all, then what is left of the Sandbox's, to the same limit.
        func removeBoth(_ kind: Retention, _ lifetime: Duration) async throws(ServiceError) -> Int {
            let count = try await remove(kind, lifetime, upTo: limit)
            return try await count + remove(kind, of: .sandbox, policy.sandbox, upTo: limit - count)
        }
        var result = RetentionResult()
        result.notifications = try await removeBoth(.notifications, policy.notifications)
        result.answers = try await removeBoth(.answers, policy.notifications)
        result.quarantined = try await remove(.quarantined, policy.notifications, upTo: limit)
        result.quarantined += try await remove(.quarantineAtItsEnd, .zero, upTo: limit - result.quarantined)
        result.idempotencyKeys = try await remove(
            .idempotencyKeys, .seconds(IdempotencyKey.lifetime), upTo: limit)
        result.attempts = try await remove(.attempts, policy.attempts, upTo: limit)
        result.deliveries = try await removeBoth(.deliveries, policy.deliveries)
        result.cases = try await removeBoth(.cases, policy.deliveries)
        result.receipts = try await removeBoth(.receipts, policy.receipts)
        result.usage = try await removeBoth(.usage, policy.usage)
        result.events = try await remove(.events, policy.events, upTo: limit)
        return result
    }
}

/// A kind of record that goes when it is over and older than it is kept: in batches, the oldest first.
struct Retention: Sendable {
    /// Of which environments.
    enum Reach: CaseIterable, Sendable {
        case all
        /// By an index of its own: testers' stories are over soon.
        case sandbox

        /// Before the other conditions.
        fileprivate var condition: String { self == .sandbox ? "environment = 'Sandbox' AND " : "" }
    }

    /// Takes the time before which it must have ended and the most rows, and returns how many went.
    private let run: @Sendable (Reach, SQLDatabase, _ end: Date, _ limit: Int) throws -> Int

    func remove(_ reach: Reach, before end: Date, limit: Int, from database: SQLDatabase) throws -> Int {
        try run(reach, database, end, limit)
    }

    /// By a statement with the end and the limit as its arguments.
    private init(statement: @escaping @Sendable (Reach) -> String) {
        run = { reach, database, end, limit in
            try database.cachedStatement(sql: statement(reach)).execute(arguments: [end.milliseconds, limit])
            return database.changesCount
        }
    }

    private init(run: @escaping @Sendable (Reach, SQLDatabase, Date, Int) throws -> Int) { self.run = run }
}

extension Retention {
    static let notifications = Retention(statement: { reach in
        """
        DELETE FROM notification WHERE position IN (
            SELECT position FROM notification
            WHERE \(reach.condition)receivedAt < ? AND processedAt IS NOT NULL
            ORDER BY receivedAt LIMIT ?)
        """
    })

    static let answers = Retention(statement: { reach in
        """
        DELETE FROM appleAnswer WHERE position IN (
            SELECT position FROM appleAnswer WHERE \(reach.condition)keptAt < ? ORDER BY keptAt LIMIT ?)
        """
    })

    /// Attempts of what goes on for longer than they are kept go as well.
    static let attempts = Retention(statement: { _ in
        """
        DELETE FROM deliveryAttempt WHERE (deliveryId, number) IN (
            SELECT deliveryId, number FROM deliveryAttempt WHERE startedAt < ? ORDER BY startedAt LIMIT ?)
        """
    })

    /// A delivery takes its attempts with it, and stays as long as its case, whose answer it is.
    static let deliveries = Retention(statement: { reach in
        """
        DELETE FROM delivery WHERE id IN (
            SELECT id FROM delivery
            WHERE \(reach.condition)endedAt < ?1 AND NOT EXISTS (
                SELECT 1 FROM refundCase
                WHERE refundCase.id = delivery.caseId AND (closedAt IS NULL OR closedAt >= ?1))
            ORDER BY endedAt LIMIT ?2)
        """
    })

    static let idempotencyKeys = Retention(statement: { _ in
        """
        DELETE FROM idempotencyKey WHERE (caller, app, route, key) IN (
            SELECT caller, app, route, key FROM idempotencyKey WHERE createdAt < ? ORDER BY createdAt LIMIT ?)
        """
    })

    /// Cases go after their deliveries.
    static let cases = Retention(statement: { reach in
        """
        DELETE FROM refundCase WHERE id IN (
            SELECT id FROM refundCase
            WHERE \(reach.condition)closedAt < ?
                AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.caseId = refundCase.id)
            ORDER BY closedAt LIMIT ?)
        """
    })

    /// Not those that Apple is still to be asked about.
    static let receipts = Retention(statement: { reach in
        """
        DELETE FROM receipt WHERE position IN (
            SELECT position FROM receipt WHERE \(reach.condition)updatedAt < ? AND nextAttemptAt IS NULL
            ORDER BY updatedAt LIMIT ?)
        """
    })

    static let usage = Retention(statement: { reach in
        """
        DELETE FROM usage WHERE position IN (
            SELECT position FROM usage WHERE \(reach.condition)recordedAt < ? ORDER BY recordedAt LIMIT ?)
        """
    })

    /// The first ones up to one that is kept, so that the positions of what is left have no gap.
    static let events = Retention(run: { _, database, end, limit in
        let first = try SQLRow.fetchAll(
            database.cachedStatement(
                sql: "SELECT position, at FROM event WHERE position > 0 ORDER BY position LIMIT ?"),
            arguments: [limit])
        let over = try first.prefix { try $0.date("at") < end }
        guard let last = over.last else { return 0 }
        let position: Int64 = try last.value("position")
        try database.cachedStatement(sql: "DELETE FROM event WHERE position <= ?").execute(arguments: [position])
        return over.count
    })

    static let quarantined = Retention(statement: { _ in
        """
        DELETE FROM quarantine WHERE position IN (
            SELECT position FROM quarantine WHERE receivedAt < ? ORDER BY receivedAt LIMIT ?)
        """
    })

    /// What Apple's history does not hold any more goes earlier.
    static let quarantineAtItsEnd = Retention(statement: { _ in
        """
        DELETE FROM quarantine WHERE position IN (
            SELECT position FROM quarantine WHERE keptUntil < ? ORDER BY keptUntil LIMIT ?)
        """
    })
}
