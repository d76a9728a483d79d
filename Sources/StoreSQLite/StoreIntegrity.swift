package import Domain
import Foundation
import GRDB
package import StoreSQL

/// Looks whether a store is what it should be.
enum StoreIntegrity {
    /// How many faults SQLite names before it stops.
    private static let maximumFaults = 100

    /// Every page, index and reference, and what our own tables must keep to, if they are of this version.
    ///
    /// - Returns: what is wrong, one sentence each.
    /// - Throws: `DatabaseError`.
    static func faults(of database: Database) throws -> [String] {
        var faults = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(maximumFaults))")
            .filter { $0 != "ok" }.map { "SQLite finds: \($0)." }
        let references = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check")
        let tables = Dictionary(grouping: references) { $0["table"] as String }
        for (table, rows) in tables.sorted(by: { $0.key < $1.key }) {
            faults.append("\(rows.count) × a row of table \(table) that refers to one that is not there.")
        }
        // What cannot be read cannot be counted either.
        guard faults.isEmpty, try Schema.migrator.hasCompletedMigrations(database) else { return faults }
        return try KeptRules.violations(in: GRDBConnection(database))
    }
}

/// Looks at a store that no daemon has open, or at a backup.
///
/// For a program of its own: it blocks.
package enum StoreCheck {
    /// Looks at every page, index and reference; changes nothing.
    ///
    /// - Returns: what is wrong, one sentence each; empty when nothing is.
    /// - Throws: `storeUnavailable` when it cannot be opened, is another program's, of a newer version, or a daemon has it.
    package static func check(_ path: String) throws(ServiceError) -> [String] {
        let file = try StoreFile.resolve(path)
        let lock = try StoreLock.acquireIfPresent(for: file)
        defer { lock?.release() }
        let queue = try open(file)
        do {
            let faults = try queue.read { try StoreIntegrity.faults(of: $0) }
            try queue.close()
            return faults
        } catch {
            throw StoreFailure.serviceError(error, doing: "check a store", store: "The store \(file)")
        }
    }

    /// Whether a file is a store that a newer version has written, as far as it can be read; changes nothing.
    package static func isOfNewerVersion(_ path: String) -> Bool {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "purser.version"
        let unknown = try? DatabaseQueue(path: path, configuration: configuration).read { database in
            try Schema.migrator.appliedIdentifiers(database).subtracting(Schema.migrator.migrations)
        }
        return unknown?.isEmpty == false
    }

    /// What a store contains sealed; changes nothing.
    ///
    /// - Returns: an empty inventory for a file that does not exist, is empty, or is of a version that sealed nothing.
    /// - Throws: `storeUnavailable` when it cannot be read, is another program's, or of a newer version.
    package static func sealedInventory(_ path: String) throws(ServiceError) -> SealedInventory {
        let file = try StoreFile.resolve(path)
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size]) as? Int
        // Before its first transaction a store has no bytes.
        guard let size, size > 0 else { return SealedInventory() }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "purser.sealed"
        configuration.busyMode = .timeout(10)
        do {
            let queue = try DatabaseQueue(path: file, configuration: configuration)
            return try queue.read { database in
                try Schema.check(database, path: file)
                guard try database.tableExists("sealedSecret") else { return SealedInventory() }
                return try SealedInventory.read(from: GRDBConnection(database))
            }
        } catch {
            throw StoreFailure.serviceError(error, doing: "read the sealed secrets", store: "The store \(file)")
        }
    }

    /// Opens a file read-only that must be a store of this or an earlier version.
    ///
    /// - Throws: `storeUnavailable`.
    static func open(_ path: String) throws(ServiceError) -> DatabaseQueue {
        let file = try StoreFile.resolve(path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "purser.check"
        do {
            guard FileManager.default.fileExists(atPath: file) else { throw StoreFile.failure(file, "it is not there") }
            // SQLite would wait for a writer of a named pipe.
            let kind = try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
            guard kind == .typeRegular else { throw StoreFile.failure(file, "it is not a file") }
            let queue = try DatabaseQueue(path: file, configuration: configuration)
            try queue.read { database in
                try Schema.check(database, path: file)
                guard try !Schema.migrator.appliedMigrations(database).isEmpty else {
                    throw StoreFile.failure(file, "it is empty")
                }
            }
            return queue
        } catch {
            throw StoreFailure.serviceError(error, doing: "open a store to read it", store: "The store \(file)")
        }
    }
}

extension SQLiteStore {
    package func checkIntegrity() async throws(ServiceError) -> [String] {
        try await read("check the store") { connection in
            guard let connection = connection as? GRDBConnection else { return [] }
            return try StoreIntegrity.faults(of: connection.database)
        }
    }
}
