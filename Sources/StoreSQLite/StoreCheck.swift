package import Domain
import Foundation
import GRDB

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
