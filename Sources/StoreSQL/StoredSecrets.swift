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

    /// Inserts a secret; one of its kind and name is an error.
    static func insert(_ record: SealedSecretRecord, into database: SQLDatabase) throws {
        try database.execute(
            sql: "INSERT INTO sealedSecret (kind, name, sealed, masterKeyId, createdAt) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                record.kind.rawValue, record.name, Data(record.sealed), record.masterKeyID,
                record.createdAt.milliseconds,
            ])
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
