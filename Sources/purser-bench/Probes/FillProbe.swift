import Foundation
import GRDB

/// Puts into a store what would take years to gather, straight into its tables.
struct FillProbe: Probe {
    static let name = "fill"

    struct Outcome: Codable, Sendable {
        let seconds: Double
    }

    /// The database, with its tables, which no daemon has open.
    let path: String
    let size: StoreSize

    func run() async throws -> Outcome {
        let start = ContinuousClock.now
        let queue = try DatabaseQueue(path: path)
        try fill(queue)
        try queue.close()
        return Outcome(seconds: start.duration(to: .now).inSeconds)
    }

    private func fill(_ queue: DatabaseQueue) throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try queue.writeWithoutTransaction { database in
            // Nothing that must not be lost: the run makes it anew.
            try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -262144")
            try database.inTransaction {
                try links(database, now)
                try deliveries(database, now)
                return .commit
            }
            try database.checkpoint(.truncate)
        }
    }

    /// One purchase for each user.
    private func links(_ database: Database, _ now: Int64) throws {
        try database.execute(
            sql: """
                WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?)
                INSERT INTO link
                    (app, user, kind, value, environment, source, validFrom, validUntil, createdAt, createdBy, userFolded)
                SELECT 'a' || (n % ?), CAST('user-' || n AS BLOB), 'transactionId', 3000000000000000 + n, 'Sandbox',
                    'declared', NULL, NULL, ?, 'bench', CAST('user-' || n AS BLOB)
                FROM number
                """,
            arguments: [size.users, size.apps, now])
        try database.execute(
            sql: """
                INSERT INTO knownIdentifier (app, identifier, environment, appTransactionId)
                SELECT app, value, environment, NULL FROM link WHERE createdBy = 'bench'
                """)
    }

    /// One queued answer for each purchase, waiting for its next attempt in some hours.
    private func deliveries(_ database: Database, _ now: Int64) throws {
        let hour: Int64 = 3_600_000
        try database.execute(
            sql: """
                WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?)
                INSERT INTO delivery
                    (id, app, user, caller, transactionId, environment, version, body, createdAt, deadline, state,
                     isReady, nextAttemptAt, dueAt, attemptCount)
                SELECT printf('01900000-0000-7000-8000-%012x', n), 'a' || (n % ?), CAST('user-' || n AS BLOB), 'bench',
                    3000000000000000 + n, 'Sandbox', 'V2', CAST(? AS BLOB), ?, ? + n, 'queued', 0, ? + n, ? + n, 0
                FROM number
                """,
            arguments: [
                size.deliveries, size.apps, ConsumptionLoad.body, now - hour, now + 10 * hour, now + 6 * hour,
                now + 6 * hour,
            ])
    }
}

/// How much has gathered in a store, and for how many apps it is configured.
struct StoreSize: Codable, Sendable, Hashable {
    let name: String
    let apps: Int
    let users: Int
    let deliveries: Int

    /// A company that has just begun.
    static let small = StoreSize(name: "small", apps: 10, users: 1000, deliveries: 1000)
    /// A large one, with a backlog of half a day.
    static let large = StoreSize(name: "large", apps: 10_000, users: 1_000_000, deliveries: 1_000_000)

    /// The configuration of a daemon for it.
    var configuration: PurserConfiguration { PurserConfiguration(name: name, apps: apps) }
}
