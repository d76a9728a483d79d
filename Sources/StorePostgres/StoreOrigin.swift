import Domain
import Foundation
import Logging
import StoreSQL
import Synchronization

/// Sees that a database was put back: from a backup, to an earlier moment, or by a fail-over that lost what was committed.
///
/// Looked at in the first turn of each connection, since nothing of the kind happens to a connection that lasts. Two things
/// tell: where the database is (its cluster, itself, the time line), which differs from where it was last written; and what
/// this process knows that it has committed, which must be there. Only who has not committed anything yet goes by the first
/// alone (0053).
final class StoreOrigin: Sendable {
    private struct State {
        /// How many turns of this process's are committed, as far as it knows; nil before its first one.
        var turns: Int64?
        /// What is to be done once the turn that looked is committed.
        var finish: (@Sendable () -> Void)?
    }

    private let id = UUID().uuidString.lowercased()
    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Begins a turn; the first one of a connection looks at the database.
    func beginTurn(_ database: PostgresDatabase) throws {
        try database.beginTurn()
        guard !database.isOriginKnown else { return }
        try PostgresServerCheck.makeDurable(database)
        let finish = try check(database)
        state.withLock { $0.finish = finish }
    }

    /// Ends a turn, and counts it.
    func commit(_ database: PostgresDatabase) throws {
        try database.commit(
            last: "UPDATE writer SET turns = turns + 1, seenAt = storeTime() WHERE id = '\(id)'")
        let finish = state.withLock { state in
            defer { state.finish = nil }
            return database.isOriginKnown ? nil : state.finish
        }
        database.isOriginKnown = true
        finish?()
        state.withLock { state in state.turns = state.turns.map { $0 + 1 } }
    }

    /// Looks at the database within a turn, the first of a connection.
    ///
    /// A database that was put back sends nothing until an operator releases it, and its events are of another epoch.
    ///
    /// - Returns: what to do once the turn is committed.
    /// - Throws: `SQLError`, `PostgresError`.
    private func check(_ database: PostgresDatabase) throws -> @Sendable () -> Void {
        let present = try String.fetchOne(database, sql: "SELECT presentOrigin()") ?? ""
        let kept = try String.fetchOne(database, sql: "SELECT origin FROM storeOrigin WHERE id = 1")
        let counted = try Int64.fetchOne(database, sql: "SELECT turns FROM writer WHERE id = ?", arguments: [id])
        let known = state.withLock(\.turns)
        let loss = Self.loss(known: known, counted: counted, kept: kept, present: present)
        if let loss { try hold(because: loss, database) }
        if kept != present {
            try database.makeStatement(
                sql: """
                    INSERT INTO storeOrigin (id, origin) VALUES (1, ?)
                    ON CONFLICT (id) DO UPDATE SET origin = excluded.origin
                    """
            ).execute(arguments: [present])
        }
        if counted == nil {
            // Those of processes that have ended.
            try database.makeStatement(sql: "DELETE FROM writer WHERE seenAt < storeTime() - 86400000").execute()
            try database.makeStatement(sql: "INSERT INTO writer (id, turns, seenAt) VALUES (?, 0, storeTime())")
                .execute(arguments: [id])
        }
        return { [self] in
            // The turn that looks is counted by itself.
            state.withLock { $0.turns = counted ?? 0 }
            guard let loss else { return }
            logger.error(
                "The database was put back; NOTHING IS SENT to Apple until `purser deliveries release`",
                metadata: ["cause": "\(loss)"])
        }
    }

    /// Why sending must be held; nil when nothing is lost.
    static func loss(known: Int64?, counted: Int64?, kept: String?, present: String) -> String? {
        if let known {
            guard (counted ?? 0) < known else { return nil }
            return
                "What was committed is gone from the database: it was put back to an earlier moment, or a server took over that lacked it."
        }
        guard let kept, kept != present else { return nil }
        return
            "The database was put back from a backup or moved to another server, or a server took over while no Purser ran."
    }

    private func hold(because reason: String, _ database: PostgresDatabase) throws {
        if try SendingHoldRow.fetch(from: database) == nil {
            guard let now = try Int64.fetchOne(database, sql: "SELECT storeTime()") else { return }
            try SendingHoldRow.insert(
                SendingHold(since: Date(milliseconds: now), reason: reason), into: database)
        }
        // What happened to the database that is gone did not happen to this one, at the same positions.
        try EventEpochRow.renew(in: database)
    }
}
