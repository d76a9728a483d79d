import Domain
import Foundation
import GRDB

/// A caller key as it stands in its table.
struct CallerKeyRow: Sendable {
    let key: CallerKey

    /// Reads a row with all columns.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    init(_ row: Row) throws {
        key = CallerKey(
            id: try row.value("keyId"), caller: try row.value("caller"),
            app: try row.value("app"),
            publicKey: Array(try row.value("publicKey", as: Data.self)),
            scopes: try row.value("scopes", as: String?.self).map(Self.scopes),
            createdAt: Date(milliseconds: try row.value("createdAt")),
            revokedAt: try row.value("revokedAt", as: Int64?.self).map(Date.init(milliseconds:)))
    }

    /// Inserts a key, unless its id is taken.
    static func insert(_ key: CallerKey, into database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO callerKey (keyId, caller, app, publicKey, scopes, createdAt, revokedAt)
                VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (keyId) DO NOTHING
                """,
            arguments: [
                key.id, key.caller, key.app, Data(key.publicKey), key.scopes.map(text), key.createdAt.milliseconds,
                key.revokedAt?.milliseconds,
            ])
    }

    static func fetch(id: String, from database: Database) throws -> CallerKeyRow? {
        try Row.fetchOne(database, sql: "SELECT * FROM callerKey WHERE keyId = ?", arguments: [id])
            .map(CallerKeyRow.init)
    }

    /// Scopes as the column `scopes` holds them: with commas in between.
    private static func text(_ scopes: Set<Scope>) -> String {
        scopes.map(\.rawValue).sorted().joined(separator: ",")
    }

    private static func scopes(_ text: String) throws -> Set<Scope> {
        let scopes = text.split(separator: ",").map { Scope(rawValue: String($0)) }
        guard !scopes.contains(nil) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "unknown scope in table callerKey")
        }
        return Set(scopes.compactMap(\.self))
    }
}
