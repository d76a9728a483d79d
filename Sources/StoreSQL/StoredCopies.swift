package import Domain
package import Foundation

/// Whether other processes may have the store at the same time, and by which clock leases are measured then.
package enum StoreSharing: Sendable {
    /// One process has the store: what another one has claimed was left behind by it, and the caller's clock is the only one.
    case alone
    /// Several copies have it: what another one has claimed is its own until its lease ends, by the database's clock, which is
    /// the same to all of them.
    case shared

    /// The time by which leases begin and end.
    ///
    /// `now`: the caller's.
    func time(_ now: Date, in database: SQLDatabase) throws -> Date {
        guard self == .shared else { return now }
        let statement = try database.cachedStatement(sql: "SELECT storeTime()")
        guard let time = try Int64.fetchOne(statement) else { throw SQLError.damaged("a clock without a time") }
        return Date(milliseconds: time)
    }
}

extension SQLStore {
    package var isShared: Bool { sharing == .shared }

    /// Nothing, where there is no other copy.
    package func news() -> AsyncStream<CopyNews> { AsyncStream { $0.finish() } }

    package func beat(
        copy id: String, holding masterKeyIDs: [String], for lifetime: Duration, at now: Date
    ) async throws(ServiceError) {
        try await write("say that this copy lives") { [sharing] database in
            let now = try sharing.time(now, in: database)
            try database.cachedStatement(
                sql: """
                    INSERT INTO copy (id, startedAt, seenAt, livesUntil, masterKeyIds) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET seenAt = excluded.seenAt, livesUntil = excluded.livesUntil,
                        masterKeyIds = excluded.masterKeyIds
                    """
            ).execute(
                arguments: [
                    id, now.milliseconds, now.milliseconds, now.advanced(by: lifetime).milliseconds,
                    masterKeyIDs.joined(separator: ","),
                ])
            try CopyRow.forgetDead(at: now, in: database)
        }
    }

    package func leave(copy id: String) async throws(ServiceError) {
        try await write("say that this copy is leaving") { database in
            try database.execute(sql: "DELETE FROM copy WHERE id = ?", arguments: [id])
            try database.execute(sql: "DELETE FROM lease WHERE holder = ?", arguments: [id])
        }
    }

    package func livingCopies(at now: Date) async throws(ServiceError) -> [Copy] {
        try await read("list the copies that live") { [sharing] database in
            try SQLRow.fetchAll(
                database, sql: "SELECT id, startedAt, seenAt FROM copy WHERE livesUntil > ? ORDER BY startedAt, id",
                arguments: [try sharing.time(now, in: database).milliseconds]
            ).map { row in
                Copy(id: try row.value("id"), startedAt: try row.date("startedAt"), seenAt: try row.date("seenAt"))
            }
        }
    }

    package func instances(lacking masterKeyID: String, at now: Date) async throws(ServiceError) -> [String] {
        guard isShared else { return [] }
        return try await read("list the master keys of instances") { [sharing] database in
            try SQLRow.fetchAll(
                database, sql: "SELECT id, masterKeyIds FROM copy WHERE livesUntil > ? ORDER BY id",
                arguments: [try sharing.time(now, in: database).milliseconds]
            ).filter { row in
                let held: String = try row.value("masterKeyIds")
                return !held.utf8.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(masterKeyID.utf8) }
            }.map { try $0.value("id") }
        }
    }

    package func takeLease(
        _ name: String, by holder: String, for duration: Duration, at now: Date
    ) async throws(ServiceError) -> Bool {
        try await write("take a lease") { [sharing] database in
            let now = try sharing.time(now, in: database)
            try database.cachedStatement(
                sql: """
                    INSERT INTO lease (name, holder, heldUntil) VALUES (?, ?, ?)
                    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, heldUntil = excluded.heldUntil
                    WHERE lease.holder = excluded.holder OR lease.heldUntil <= ?
                    """
            ).execute(arguments: [name, holder, now.advanced(by: duration).milliseconds, now.milliseconds])
            return database.changesCount == 1
        }
    }

    package func giveBackLease(_ name: String, by holder: String) async throws(ServiceError) {
        try await write("give a lease back") { database in
            try database.execute(
                sql: "DELETE FROM lease WHERE name = ? AND holder = ?", arguments: [name, holder])
        }
    }
}

/// A copy of the daemon as it stands in its table.
private enum CopyRow {
    /// How long one that died is still listed, for whoever looks at the table.
    private static let memory = Duration.seconds(3600)

    static func forgetDead(at now: Date, in database: SQLDatabase) throws {
        try database.cachedStatement(sql: "DELETE FROM copy WHERE livesUntil < ?")
            .execute(arguments: [now.advanced(by: .zero - memory).milliseconds])
    }
}
