import Domain
import Foundation
import GRDB

/// A copy of a store, from which nothing is sent until an operator says so.
enum StoreCopy {
    /// Copies what a database holds at this moment into a new file (mode 0600), brings it to this version's tables, sets the
    /// hold, and looks whether all of it is right.
    ///
    /// The file is whole and on disk when this returns, without companions; nothing is left behind otherwise. Blocks.
    ///
    /// - Parameters:
    ///   - source: may be in use.
    ///   - path: must not exist.
    ///   - hold: what the hold says, unless the copied store has one already.
    /// - Throws: `storeUnavailable`.
    static func make(of source: some DatabaseReader, at path: String, _ hold: SendingHold) throws(ServiceError) {
        try StoreFile.createNew(path)
        do {
            let copy = try DatabaseQueue(path: path, configuration: configuration)
            try source.backup(to: copy)
            try Schema.migrator.migrate(copy)
            let faults = try copy.writeWithoutTransaction { database in
                if try SendingHoldRow.fetch(from: database) == nil { try SendingHoldRow.insert(hold, into: database) }
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
        of source: some DatabaseReader, named name: String, _ hold: SendingHold
    ) throws(ServiceError) {
        // Takes the name, so that nobody else can meanwhile.
        try StoreFile.createNew(name)
        let copy = "\(name).partial-\(UUID().uuidString)"
        do throws(ServiceError) {
            try make(of: source, at: copy, hold)
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
