package import Domain
import Foundation

// Sealed secrets: the store keeps them and can open none.

extension SQLStore {
    package func sealedSecrets() async throws(ServiceError) -> [SealedSecretRecord] {
        try await read("read the sealed secrets") { try SealedSecretRow.fetchAll(from: $0) }
    }

    package func rewrapSealedSecrets(
        _ rewrap: @escaping @Sendable (SealedSecretRecord) -> SealedSecretRecord?
    ) async throws(ServiceError) -> Int {
        try await write("seal the secrets anew") { database in
            let changed = try SealedSecretRow.fetchAll(from: database).compactMap(rewrap)
            for record in changed { try SealedSecretRow.replace(record, in: database) }
            return changed.count
        }
    }

    /// Deletes what is sealed for an imported key or a callback, if it does not open.
    ///
    /// - Parameters:
    ///   - id: the key's id, or the name of the callback's secret.
    ///   - opens: whether a secret opens; the imported key is nil for a row without one.
    /// - Returns: what was deleted, such as `key ABC123DEFG`.
    /// - Throws: `storeUnavailable`
    package func deleteUnreadable(
        id: String, opens: @escaping @Sendable (SealedSecretRecord, ImportedKey?) -> Bool
    ) async throws(ServiceError) -> [String] {
        try await write("delete an unreadable secret") { database in
            let key = try ImportedKeyRow.fetch(id, from: database)
            var deleted: [String] = []
            for kind in [SealedSecretRecord.Kind.signingKey, .callback] {
                guard let record = try SealedSecretRow.fetch(kind, id, from: database), !opens(record, key) else {
                    continue
                }
                if kind == .signingKey { try ImportedKeyRow.delete(id, from: database) }
                try SealedSecretRow.delete(kind, id, from: database)
                deleted.append(record.purpose)
            }
            return deleted
        }
    }
}

/// A sealed secret as it stands in its table.
enum SealedSecretRow {
    /// All of them, by kind and name.
    ///
    /// - Throws: `SQLError` when a row holds what this version does not know.
    static func fetchAll(from database: SQLDatabase) throws -> [SealedSecretRecord] {
        try SQLRow.fetchAll(database, sql: "SELECT * FROM sealedSecret ORDER BY kind, name").map(record)
    }

    /// The secret of this kind and name.
    static func fetch(
        _ kind: SealedSecretRecord.Kind, _ name: String, from database: SQLDatabase
    ) throws -> SealedSecretRecord? {
        try SQLRow.fetchOne(
            database, sql: "SELECT * FROM sealedSecret WHERE kind = ? AND name = ?", arguments: [kind.rawValue, name]
        ).map(record)
    }

    /// Inserts a secret unless there is one of its kind and name, and reads what is there then.
    static func insertIfAbsent(_ record: SealedSecretRecord, into database: SQLDatabase) throws -> SealedSecretRecord {
        try database.execute(
            sql: "INSERT INTO sealedSecret (\(columns)) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            arguments: arguments(of: record))
        guard let stored = try fetch(record.kind, record.name, from: database) else {
            throw SQLError.damaged("a sealed secret is missing")
        }
        return stored
    }

    /// Gives a secret of the installation another name, under which it stays sealed; the name is free then.
    static func setAside(_ record: SealedSecretRecord, in database: SQLDatabase) throws {
        let base = "\(record.name)\(SealedSecretRecord.asideSeparator)\(record.masterKeyID)"
        var (name, count) = (base, 1)
        while try fetch(record.kind, name, from: database) != nil {
            count += 1
            name = "\(base).\(count)"
        }
        try database.execute(
            sql: "UPDATE sealedSecret SET name = ? WHERE kind = ? AND name = ?",
            arguments: [name, record.kind.rawValue, record.name])
    }

    /// Inserts a secret; one of its kind and name is an error.
    static func insert(_ record: SealedSecretRecord, into database: SQLDatabase) throws {
        try database.execute(
            sql: "INSERT INTO sealedSecret (\(columns)) VALUES (?, ?, ?, ?, ?)", arguments: arguments(of: record))
    }

    /// Puts the same secret, sealed anew, in its own place.
    static func replace(_ record: SealedSecretRecord, in database: SQLDatabase) throws {
        try database.execute(
            sql: "UPDATE sealedSecret SET sealed = ?, masterKeyId = ? WHERE kind = ? AND name = ?",
            arguments: [Data(record.sealed), record.masterKeyID, record.kind.rawValue, record.name])
    }

    /// Removes a secret; its bytes are overwritten, since the database runs with `secure_delete`.
    static func delete(_ kind: SealedSecretRecord.Kind, _ name: String, from database: SQLDatabase) throws {
        try database.execute(
            sql: "DELETE FROM sealedSecret WHERE kind = ? AND name = ?", arguments: [kind.rawValue, name])
    }

    private static let columns = "kind, name, sealed, masterKeyId, createdAt"

    private static func arguments(of record: SealedSecretRecord) -> SQLArguments {
        [record.kind.rawValue, record.name, Data(record.sealed), record.masterKeyID, record.createdAt.milliseconds]
    }

    private static func record(_ row: SQLRow) throws -> SealedSecretRecord {
        let kind: String = try row.value("kind")
        guard let kind = SealedSecretRecord.Kind(rawValue: kind) else {
            throw SQLError.damaged("unknown kind in table sealedSecret")
        }
        return SealedSecretRecord(
            kind: kind, name: try row.value("name"), sealed: try row.bytes("sealed"),
            masterKeyID: try row.value("masterKeyId"), createdAt: try row.date("createdAt"))
    }
}
