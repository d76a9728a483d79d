package import Domain
import Foundation

// Imported keys, as far as they are not secret, and what has been decided about all keys.

extension SQLStore {
    package func importedKeys() async throws(ServiceError) -> [ImportedKey] {
        try await read("read the imported keys") { database in
            try SQLRow.fetchAll(database, sql: "SELECT * FROM importedKey ORDER BY importedAt, keyId")
                .map(ImportedKeyRow.key)
        }
    }

    package func addImportedKey(
        _ key: ImportedKey, sealed: SealedSecretRecord
    ) async throws(ServiceError) -> Bool {
        try await write("keep an imported key") { database in
            try ImportedKeyRow.insert(key, into: database)
            guard database.changesCount == 1 else { return false }
            try SealedSecretRow.insert(sealed, into: database)
            return true
        }
    }

    package func deleteImportedKey(id: String) async throws(ServiceError) -> Bool {
        try await write("delete an imported key") { database in
            guard try ImportedKeyRow.delete(id, from: database) else { return false }
            try SealedSecretRow.delete(.signingKey, id, from: database)
            return true
        }
    }

    package func keyStates() async throws(ServiceError) -> KeyStates {
        try await read("read what was decided about keys") { try KeyStateRows.fetch(from: $0) }
    }

    package func replaceKeyStates(_ states: KeyStates) async throws(ServiceError) {
        try await write("keep what was decided about keys") { try KeyStateRows.replace(with: states, in: $0) }
    }

    package func mergeKeyStates(
        _ states: KeyStates, since base: KeyStates
    ) async throws(ServiceError) -> KeyStates {
        guard isShared else {
            try await replaceKeyStates(states)
            return states
        }
        return try await write("keep what was decided about keys") { database in
            let kept = try KeyStateRows.fetch(from: database)
            let merged = states.merged(with: kept, since: base)
            if merged != kept { try KeyStateRows.replace(with: merged, in: database) }
            return merged
        }
    }
}

/// An imported key as it stands in its table.
enum ImportedKeyRow {
    /// - Throws: `SQLError`
    static func key(_ row: SQLRow) throws -> ImportedKey {
        let apps: String = try row.value("apps")
        return ImportedKey(
            keyID: try row.value("keyId"), issuerID: try row.value("issuerId"),
            apps: apps.split(separator: ",").map(String.init), fingerprint: try row.bytes("fingerprint"),
            importedAt: try row.date("importedAt"), importedBy: try row.value("importedBy"))
    }

    static func fetch(_ id: String, from database: SQLDatabase) throws -> ImportedKey? {
        try SQLRow.fetchOne(database, sql: "SELECT * FROM importedKey WHERE keyId = ?", arguments: [id]).map(key)
    }

    /// Deletes a key and what was decided about it, but not its sealed bytes.
    ///
    /// - Returns: false where there is no key of this id; nothing is changed then.
    @discardableResult
    static func delete(_ id: String, from database: SQLDatabase) throws -> Bool {
        try database.execute(sql: "DELETE FROM importedKey WHERE keyId = ?", arguments: [id])
        guard database.changesCount == 1 else { return false }
        for table in ["keyRole", "keyHistory"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE keyId = ?", arguments: [id])
        }
        return true
    }

    /// Inserts a key, unless its id is taken.
    static func insert(_ key: ImportedKey, into database: SQLDatabase) throws {
        try database.execute(
            sql: """
                INSERT INTO importedKey (keyId, issuerId, apps, fingerprint, importedAt, importedBy)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (keyId) DO NOTHING
                """,
            arguments: [
                key.keyID, key.issuerID, key.apps.joined(separator: ","), Data(key.fingerprint),
                key.importedAt.milliseconds, key.importedBy,
            ])
    }
}

/// What has been decided about keys, as it stands in its tables.
enum KeyStateRows {
    static func fetch(from database: SQLDatabase) throws -> KeyStates {
        let roles = try SQLRow.fetchAll(database, sql: "SELECT * FROM keyRole").map(role)
        let histories = try SQLRow.fetchAll(database, sql: "SELECT * FROM keyHistory").map(history)
        return KeyStates(
            roles: Set(roles), histories: Dictionary(histories.map { ($0.keyID, $0) }) { first, _ in first })
    }

    static func replace(with states: KeyStates, in database: SQLDatabase) throws {
        try database.execute(sql: "DELETE FROM keyRole")
        try database.execute(sql: "DELETE FROM keyHistory")
        for role in states.roles { try insert(role, into: database) }
        for history in states.histories.values { try insert(history, into: database) }
    }

    /// - Throws: `SQLError`, `SQLError` for what this version does not know.
    static func role(_ row: SQLRow) throws -> KeyRole {
        let (kind, cause): (String, String) = (try row.value("kind"), try row.value("cause"))
        guard let kind = KeyRole.Kind(rawValue: kind), let cause = KeyRole.Cause(rawValue: cause) else {
            throw SQLError.damaged("unknown role in table keyRole")
        }
        return KeyRole(
            app: try row.value("app"), keyID: try row.value("keyId"), kind: kind, cause: cause,
            replacedKeyID: try row.value("replacedKeyId", as: String?.self),
            declaredKeyID: try row.value("declaredKeyId", as: String?.self), since: try row.date("since"))
    }

    static func insert(_ role: KeyRole, into database: SQLDatabase) throws {
        try database.execute(
            sql: """
                INSERT INTO keyRole (app, keyId, kind, cause, replacedKeyId, declaredKeyId, since)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                role.app, role.keyID, role.kind.rawValue, role.cause.rawValue, role.replacedKeyID, role.declaredKeyID,
                role.since.milliseconds,
            ])
    }

    /// - Throws: `SQLError`
    static func history(_ row: SQLRow) throws -> KeyHistory {
        KeyHistory(
            keyID: try row.value("keyId"), firstSeenAt: try row.date("firstSeenAt"),
            lastUsedAt: try row.dateIfPresent("lastUsedAt"), retiredAt: try row.dateIfPresent("retiredAt"),
            revokedAt: try row.dateIfPresent("revokedAt"),
            directoryFingerprint: try row.value("directoryFingerprint", as: String?.self))
    }

    static func insert(_ history: KeyHistory, into database: SQLDatabase) throws {
        try database.execute(
            sql: """
                INSERT INTO keyHistory (keyId, firstSeenAt, lastUsedAt, retiredAt, revokedAt, directoryFingerprint)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                history.keyID, history.firstSeenAt.milliseconds, history.lastUsedAt?.milliseconds,
                history.retiredAt?.milliseconds, history.revokedAt?.milliseconds, history.directoryFingerprint,
            ])
    }
}
