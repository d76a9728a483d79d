import Domain
import Foundation
import GRDB

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
