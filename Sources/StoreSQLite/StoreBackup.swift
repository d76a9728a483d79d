package import Domain
package import Foundation
import GRDB
import StoreSQL

// A backup is a copy of the store, and a restore puts such a copy in its place; from neither is anything sent until an
// operator says so.

extension SQLiteStore {
    package func backup(to path: String, at now: Date) async throws(ServiceError) {
        let hold = SendingHold(since: now, reason: "The store comes from a backup.")
        try await Blocking.run { [pool, files] in
            Result { () throws(ServiceError) in
                try StoreCopy.make(named: try StoreFile.resolve(path), hold) { copy in
                    if (try? files.check()) != nil { return try pool.backup(to: copy) }
                    // Removed: what is open has all of it, but a reader that were opened now would find nothing.
                    try pool.writeWithoutTransaction { source in
                        try copy.writeWithoutTransaction { try source.backup(to: $0) }
                    }
                }
            }
        }.get()
    }
}

/// A copy of a store, from which nothing is sent until an operator says so.
enum StoreCopy {
    /// Copies what a database holds at this moment into a new file (mode 0600), brings it to this version's tables, sets the
    /// hold, begins another epoch of events, and looks whether all of it is right.
    ///
    /// The file is whole and on disk when this returns, without companions; nothing is left behind otherwise. Blocks.
    ///
    /// - Parameters:
    ///   - path: must not exist.
    ///   - hold: what the hold says, unless the copied store has one already.
    ///   - fill: copies a database, which may be in use, into the new one.
    /// - Throws: `storeUnavailable`.
    static func make(
        at path: String, _ hold: SendingHold, fill: (DatabaseQueue) throws -> Void
    ) throws(ServiceError) {
        try StoreFile.createNew(path)
        do {
            let copy = try DatabaseQueue(path: path, configuration: configuration)
            try fill(copy)
            try Schema.migrator.migrate(copy)
            let faults = try copy.writeWithoutTransaction { database in
                let rows = GRDBConnection(database)
                if try SendingHoldRow.fetch(from: rows) == nil { try SendingHoldRow.insert(hold, into: rows) }
                // What happens to the store from now on does not happen to the copy, at the same positions.
                try EventEpochRow.renew(in: rows)
                // A copy is one file, wherever it is carried.
                try database.execute(sql: "PRAGMA journal_mode = DELETE")
                return try StoreIntegrity.faults(of: database)
            }
            try copy.close()
            if let fault = faults.first {
                throw ServiceError(
                    .storeUnavailable, "The copy \(path) is not kept, since it is damaged: \(fault)",
                    cause: faults.joined(separator: " "))
            }
            try StoreFile.synchronize(path)
        } catch {
            StoreFile.remove(path)
            throw StoreFailure.serviceError(error, doing: "copy a store", store: "The copy \(path)")
        }
    }

    /// Makes a copy that nobody can see under its name before it is whole.
    ///
    /// - Throws: `storeUnavailable`, also when there is a file of that name; nothing is left behind then.
    static func make(
        named name: String, _ hold: SendingHold, fill: (DatabaseQueue) throws -> Void
    ) throws(ServiceError) {
        // Takes the name, so that nobody else can meanwhile.
        try StoreFile.createNew(name)
        let copy = "\(name).partial-\(UUID().uuidString)"
        do throws(ServiceError) {
            try make(at: copy, hold, fill: fill)
            try StoreFile.rename(copy, to: name)
        } catch {
            StoreFile.remove(copy)
            StoreFile.remove(name)
            throw error
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "purser.copy"
        configuration.foreignKeysEnabled = true
        return configuration
    }
}

/// Puts a backup in a store's place while no daemon runs.
///
/// For a program of its own: it blocks.
package enum StoreRestore {
    /// Makes the store of a backup; nothing is sent from it until an operator releases it.
    ///
    /// The store is the old one or the whole new one at every moment, whatever fails. When root restores it, it belongs to
    /// whom the old one belonged to, else to the folder's owner.
    ///
    /// - Parameters:
    ///   - backup: a file that `purser backup` wrote, or any copy of a store that is whole.
    ///   - path: the store's file.
    ///   - replacing: whether a store that is there already is put aside.
    ///   - now: the time of day.
    /// - Returns: the file that the store which was there is kept in; nil when there was none.
    /// - Throws: `storeUnavailable` naming what is wrong: a daemon has the store, a store is there already, the backup is
    ///   another program's, of a newer version or damaged, a disk fails.
    @discardableResult
    package static func restore(
        from backup: String, to path: String, replacing: Bool = false, at now: Date
    ) throws(ServiceError) -> String? {
        let file = try StoreFile.resolve(path)
        let lock = try StoreLock.acquire(for: file)
        defer { lock.release() }
        let exists = FileManager.default.fileExists(atPath: file)
        // A log without its database would be taken for the new one's.
        let isToKeep = exists || FileManager.default.fileExists(atPath: file + "-wal")
        guard !isToKeep || replacing else {
            throw ServiceError(
                .storeUnavailable,
                "There is a store at \(file) already; say that it is to be replaced, and it is put aside.")
        }
        let source = try StoreCheck.open(backup)
        let model = exists ? file : StoreFile.folder(of: file)
        try StoreFile.give(StoreLock.fileName(for: file), toOwnerOf: model)
        let copy = "\(file).restoring-\(UUID().uuidString)"
        let hold = SendingHold(since: now, reason: "The store was restored from a backup.")
        try StoreCopy.make(at: copy, hold) { try source.backup(to: $0) }
        do throws(ServiceError) {
            try StoreFile.give(copy, toOwnerOf: model)
            let kept = isToKeep ? try keep(file, at: now) : nil
            try StoreFile.rename(copy, to: file)
            return kept
        } catch {
            StoreFile.remove(copy)
            throw error
        }
    }

    /// Gives a store a second name, beside its own.
    private static func keep(_ file: String, at now: Date) throws(ServiceError) -> String {
        let exists = FileManager.default.fileExists(atPath: file)
        if exists { emptyLog(of: file) }
        let kept = "\(file).replaced-\(now.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)))"
        guard !exists || link(file, kept) == 0 else {
            throw StoreFile.failure(file, "it cannot be kept as \(kept): \(StoreFile.reason(errno))")
        }
        for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: file + suffix) {
            try StoreFile.rename(file + suffix, to: kept + suffix)
        }
        return kept
    }

    /// Moves what stands in the write-ahead log into the database, if the store is still good enough for that.
    private static func emptyLog(of file: String) {
        let queue = try? DatabaseQueue(path: file)
        try? queue?.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try? queue?.close()
    }
}
