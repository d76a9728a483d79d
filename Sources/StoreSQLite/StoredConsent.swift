package import Domain
import Foundation
import GRDB

extension SQLiteStore: ConsentStore {
    package func recordConsent(_ record: ConsentRecord) async throws(ServiceError) -> ConsentEffect {
        try await write("record consent") { [tombstones] database in
            try ConsentRow.insert(record, into: database)
            // Whoever is known by a record alone may own what was signed with its id as token.
            try CaseRow.refreshOwners(
                app: record.app, targets: [LinkTarget(.appAccountToken, record.user.value)], in: database)
            guard !record.isConsented else {
                try tombstones.remove(record.user, app: record.app, in: database)
                return ConsentEffect(cancelled: [], sending: [])
            }
            let rows = try UserDeliveries.list(of: record.user, app: record.app, .underWay, in: database)
            let (cancelled, sending) = try DeliveryRow.cancel(
                rows, because: DeliveryFailure(ConsentObjection.withdrawn(record.user).error), at: record.recordedAt,
                in: database)
            return ConsentEffect(cancelled: cancelled, sending: sending)
        }
    }

    package func consentHistory(app: String, user: UserID) async throws(ServiceError) -> [ConsentRecord] {
        try await read("read a user's consent") { try ConsentRow.history(app: app, user: user, from: $0) }
    }

    package func consentObjection(to subject: ConsentSubject) async throws(ServiceError) -> ConsentObjection? {
        try await read("ask for consent") { [tombstones] database in
            try ConsentQuery.objection(to: subject, tombstones, in: database)
        }
    }
}

/// Whether somebody's withdrawal stands against an answer, by `ConsentRules`, as one transaction sees links and consent.
enum ConsentQuery {
    static func objection(
        to subject: ConsentSubject, _ tombstones: Tombstones, in database: Database
    ) throws -> ConsentObjection? {
        var situation = ConsentRules.Situation()
        situation.owner = try OwnerQuery.owner(of: subject, in: database)
        let mayBeErased = try tombstones.hasAny(database)
        for user in Set([subject.user, situation.owner].compactMap(\.self)) {
            situation.latest[user] = try ConsentRow.latest(app: subject.app, user: user, from: database)
            if try mayBeErased && tombstones.isErased(user, app: subject.app, in: database) {
                situation.erasedUsers.insert(user)
            }
        }
        situation.isErasedPurchase =
            try mayBeErased && tombstones.isErased(subject.linkTargets, app: subject.app, in: database)
        return ConsentRules.objection(to: subject, situation)
    }
}

/// A record of consent as it stands in its table.
enum ConsentRow {
    static func insert(_ record: ConsentRecord, into database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO consent (app, user, isConsented, source, at, recordedAt, recordedBy, userFolded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                record.app, LinkRow.bytes(record.user), record.isConsented, Data(record.source.utf8),
                record.at.milliseconds, record.recordedAt.milliseconds, record.recordedBy,
                LinkRow.folded(record.user.value),
            ])
    }

    /// Every record of a user, oldest first.
    static func history(app: String, user: UserID, from database: Database) throws -> [ConsentRecord] {
        try Row.fetchAll(
            database, sql: "SELECT * FROM consent WHERE app = ? AND user = ? ORDER BY position",
            arguments: [app, LinkRow.bytes(user)]
        ).map(record)
    }

    /// The record of a user that decides.
    static func latest(app: String, user: UserID, from database: Database) throws -> ConsentRecord? {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM consent WHERE app = ? AND user = ? ORDER BY position DESC LIMIT 1")
        return try Row.fetchOne(statement, arguments: [app, LinkRow.bytes(user)]).map(record)
    }

    /// Removes every record of a user.
    ///
    /// - Returns: how many there were.
    static func remove(app: String, user: UserID, from database: Database) throws -> Int {
        try database.execute(
            sql: "DELETE FROM consent WHERE app = ? AND user = ?", arguments: [app, LinkRow.bytes(user)])
        return database.changesCount
    }

    private static func record(_ row: Row) throws -> ConsentRecord {
        guard let user = try row.userIfPresent("user") else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a record of consent without a user")
        }
        return ConsentRecord(
            app: try row.value("app"), user: user, isConsented: try row.value("isConsented"),
            source: String(decoding: try row.bytes("source"), as: UTF8.self), at: try row.date("at"),
            recordedAt: try row.date("recordedAt"), recordedBy: try row.value("recordedBy"))
    }
}
