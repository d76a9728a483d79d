import Domain
import Foundation
import GRDB

/// What erased users' withdrawals left: reads and writes the table of keyed hashes.
struct Tombstones: Sendable {
    /// Nil where the store was opened without one: then none can be left, and nothing is said while there are some.
    let hasher: TombstoneHasher?

    /// A key at random, for the hasher.
    static var freshKey: [UInt8] { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }

    /// Whether a user was erased who had withdrawn.
    func isErased(_ user: UserID, app: String, in database: Database) throws -> Bool {
        guard try hasAny(database) else { return false }
        return try isLeft(hash { $0.hash(app: app, user: user) }, in: database)
    }

    /// Whether one of these identifiers was an erased user's who had withdrawn.
    func isErased(_ targets: [LinkTarget], app: String, in database: Database) throws -> Bool {
        guard try hasAny(database) else { return false }
        return try targets.contains { target in
            try isLeft(hash { $0.hash(app: app, target: target) }, in: database)
        }
    }

    /// Leaves the hashes of a user and of the identifiers that were its own.
    func leave(_ user: UserID, _ targets: Set<LinkTarget>, app: String, in database: Database) throws {
        let userHash = try hash { $0.hash(app: app, user: user) }
        let hashes = try targets.map { target in try hash { $0.hash(app: app, target: target) } }
        let statement = try database.cachedStatement(
            sql: "INSERT INTO tombstone (hash, userHash) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for hash in [userHash] + hashes { try statement.execute(arguments: [hash, userHash]) }
    }

    /// Removes all that an erasure of this user left.
    func remove(_ user: UserID, app: String, in database: Database) throws {
        guard try hasAny(database) else { return }
        try database.execute(
            sql: "DELETE FROM tombstone WHERE userHash = ?",
            arguments: [try hash { $0.hash(app: app, user: user) }])
    }

    /// Whether there is any at all, which is seldom.
    func hasAny(_ database: Database) throws -> Bool {
        try Int.fetchOne(database.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE hash > x'' LIMIT 1")) != nil
    }

    private func isLeft(_ hash: Data, in database: Database) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE hash = ? LIMIT 1"), arguments: [hash]) != nil
    }

    /// An empty hash is one that could not be made: it must not look like one that is not there.
    private func hash(_ make: (TombstoneHasher) -> [UInt8]) throws -> Data {
        guard let hash = hasher.map(make), !hash.isEmpty else {
            throw ServiceError(.storeUnavailable, "The hashes of erased users cannot be made now.")
        }
        return Data(hash)
    }
}
