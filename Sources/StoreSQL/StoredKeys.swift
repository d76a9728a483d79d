package import Domain
package import Foundation

// Callers' public keys, and the secrets of this installation.

extension SQLStore {
    package func addCallerKey(_ key: CallerKey) async throws(ServiceError) -> Bool {
        try await write("keep a caller key") { database in
            try CallerKeyRow.insert(key, into: database)
            guard database.changesCount == 1 else { return false }
            try CallerRow.nextGeneration(database)
            return true
        }
    }

    package func callerKey(id: String) async throws(ServiceError) -> CallerKey? {
        try await read("read a caller key") { try CallerKeyRow.fetch(id: id, from: $0)?.key }
    }

    package func callerKeys() async throws(ServiceError) -> [CallerKey] {
        try await read("read the caller keys") { database in
            try SQLRow.fetchAll(database, sql: "SELECT * FROM callerKey ORDER BY id").map { try CallerKeyRow($0).key }
        }
    }

    package func revokeCallerKey(
        id: String, caller: String, at date: Date
    ) async throws(ServiceError) -> CallerKey? {
        try await write("revoke a caller key") { database in
            try database.execute(
                sql: "UPDATE callerKey SET revokedAt = ? WHERE keyId = ? AND caller = ? AND revokedAt IS NULL",
                arguments: [date.milliseconds, id, caller])
            if database.changesCount > 0 { try CallerRow.nextGeneration(database) }
            guard let key = try CallerKeyRow.fetch(id: id, from: database)?.key, key.caller == caller else {
                return nil
            }
            return key
        }
    }
}

/// A caller key as it stands in its table.
struct CallerKeyRow: Sendable {
    let key: CallerKey

    /// Reads a row with all columns.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(_ row: SQLRow) throws {
        key = CallerKey(
            id: try row.value("keyId"), caller: try row.value("caller"),
            app: try row.value("app"),
            publicKey: try row.bytes("publicKey"),
            scopes: try row.value("scopes", as: String?.self).map(Self.scopes),
            createdAt: try row.date("createdAt"), revokedAt: try row.dateIfPresent("revokedAt"))
    }

    /// Inserts a key, unless its id is taken.
    static func insert(_ key: CallerKey, into database: SQLDatabase) throws {
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

    static func fetch(id: String, from database: SQLDatabase) throws -> CallerKeyRow? {
        try SQLRow.fetchOne(database, sql: "SELECT * FROM callerKey WHERE keyId = ?", arguments: [id])
            .map(CallerKeyRow.init)
    }

    /// Scopes as the column `scopes` holds them: with commas in between.
    private static func text(_ scopes: Set<Scope>) -> String {
        scopes.map(\.rawValue).sorted().joined(separator: ",")
    }

    private static func scopes(_ text: String) throws -> Set<Scope> {
        let scopes = text.split(separator: ",").map { Scope(rawValue: String($0)) }
        guard !scopes.contains(nil) else {
            throw SQLError.damaged("unknown scope in table callerKey")
        }
        return Set(scopes.compactMap(\.self))
    }
}

// MARK: What identifies the installation

extension SQLStore {
    /// Something of this installation's that is no secret: made once, kept for ever.
    ///
    /// - Parameters:
    ///   - name: what it is for.
    ///   - make: makes its bytes.
    /// - Returns: the same bytes at every call.
    /// - Throws: `storeUnavailable`, or what `make` throws.
    package func installationIdentifier(
        name: String, make: @escaping @Sendable () throws -> [UInt8]
    ) async throws -> [UInt8] {
        let fresh = try make()
        return try await write("read an installation's identifier") { database in
            try InstallationKeyRow.fetch(name, orKeep: fresh, in: database)
        }
    }
}

/// What belongs to the installation and is not sealed, as it stands in its table.
enum InstallationKeyRow {
    /// What is kept under this name; the fresh bytes become it where there is nothing.
    static func fetch(_ name: String, orKeep fresh: [UInt8], in database: SQLDatabase) throws -> [UInt8] {
        try database.execute(
            sql: "INSERT INTO installationKey (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
            arguments: [name, Data(fresh)])
        guard let kept = try fetch(name, from: database) else {
            throw SQLError.damaged("an installation key is missing")
        }
        return kept
    }

    /// Takes a secret out that an earlier release has kept in clear; its bytes are overwritten, since the database runs with
    /// `secure_delete`.
    static func take(_ name: String, from database: SQLDatabase) throws -> [UInt8]? {
        guard let kept = try fetch(name, from: database) else { return nil }
        try database.execute(sql: "DELETE FROM installationKey WHERE name = ?", arguments: [name])
        return kept
    }

    private static func fetch(_ name: String, from database: SQLDatabase) throws -> [UInt8]? {
        let kept = try Data.fetchOne(
            database, sql: "SELECT value FROM installationKey WHERE name = ?", arguments: [name])
        // Never make do with less: an empty key would authenticate everything.
        if kept?.isEmpty == true {
            throw SQLError.damaged("an installation key is empty")
        }
        return kept.map(Array.init)
    }
}
