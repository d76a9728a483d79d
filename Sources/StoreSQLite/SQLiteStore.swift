package import Domain
import Foundation
import GRDB

/// Links, remembered identifiers and installation keys in one SQLite file.
///
/// Write-ahead logging, fsync on every commit, and an operating-system lock that keeps a second daemon out. Reads run beside
/// the one writer; nothing here blocks a thread of the cooperative pool.
package final class SQLiteStore: Sendable {
    let pool: DatabasePool
    let gauge: DatabaseGauge
    private let lock: StoreLock

    private init(pool: DatabasePool, gauge: DatabaseGauge, lock: StoreLock) {
        self.pool = pool
        self.gauge = gauge
        self.lock = lock
    }

    /// Opens the store, creating the file (mode 0600) and migrating it forward as needed.
    ///
    /// - Parameter path: the file; its folder must exist.
    /// - Returns: the store, ready for use.
    /// - Throws: `storeUnavailable`, naming the file and what is wrong: no folder, another daemon, not a database, written
    ///   by a newer version.
    package static func open(at path: String) async throws(ServiceError) -> SQLiteStore {
        let lock = try StoreLock.acquire(for: path)
        do {
            try FilePreparation.prepare(path)
            var configuration = Configuration()
            configuration.label = "purser.store"
            configuration.busyMode = .timeout(5)
            configuration.foreignKeysEnabled = true
            configuration.maximumReaderCount = 4
            let pool = try DatabasePool(path: path, configuration: configuration)
            let migrator = Schema.migrator
            let isNewer = try await pool.read { try migrator.hasBeenSuperseded($0) }
            guard !isNewer else {
                throw ServiceError(
                    .storeUnavailable, "The store \(path) was written by a newer version of Purser; run that version.")
            }
            try migrator.migrate(pool)
            // GRDB gives the pool's writer synchronous=NORMAL; what we promise must survive a power cut.
            try await pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return SQLiteStore(pool: pool, gauge: DatabaseGauge(), lock: lock)
        } catch let error as ServiceError {
            throw error
        } catch {
            throw StoreFailure.serviceError(error, doing: "open \(path)")
        }
    }

    /// Ends all work and gives the file free for another process.
    package func close() async {
        // Closing waits for reads in flight, which must not hold up a thread of the cooperative pool.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [pool] in
                // A statement that is still open keeps SQLite from closing; the file is consistent all the same.
                try? pool.close()
                continuation.resume()
            }
        }
        lock.release()
    }

    /// Whether a write succeeds now; the caller bounds the wait.
    package func isUsable() async -> Bool {
        do {
            try await write("probe") { database in
                try database.execute(sql: "UPDATE probe SET count = count + 1 WHERE id = 1")
            }
            return true
        } catch {
            return false
        }
    }

    /// Returns once the store's executor has just run, or is known to be at work inside the database, where a slow or full
    /// disk may hold it up; for the watchdog.
    package func heartbeat() async {
        guard !gauge.isInsideDatabase else { return }
        let (beats, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        pool.asyncWriteWithoutTransaction { _ in continuation.yield() }
        let gauge = gauge
        let watcher = Task {
            // A write that began in the meantime may sit in front of ours.
            while (try? await Task.sleep(for: .milliseconds(50))) != nil {
                if gauge.isInsideDatabase { continuation.yield() }
            }
        }
        defer { watcher.cancel() }
        for await _ in beats { return }
    }

    /// A secret of this installation: made once, kept for ever.
    ///
    /// - Parameters:
    ///   - name: what it is for.
    ///   - make: makes its bytes at random.
    /// - Returns: the key, the same at every call.
    /// - Throws: `storeUnavailable`, or what `make` throws.
    package func installationKey(name: String, make: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8] {
        let fresh = try make()
        return try await write("read an installation key") { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO installationKey (name, value) VALUES (?, ?)",
                arguments: [name, Data(fresh)])
            let value = try Data.fetchOne(
                database, sql: "SELECT value FROM installationKey WHERE name = ?", arguments: [name])
            return Array(value ?? Data())
        }
    }
}

// MARK: Access

extension SQLiteStore {
    /// Runs one read-only snapshot.
    func read<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServiceError) -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw StoreFailure.serviceError(error, doing: purpose)
        }
    }

    /// Runs one transaction; what it wrote is on disk when this returns.
    func write<Value: Sendable>(
        _ purpose: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServiceError) -> Value {
        let gauge = gauge
        do {
            return try await pool.writeWithoutTransaction { database in
                try gauge.inside {
                    var value: Value?
                    try database.inTransaction(.immediate) {
                        value = try body(database)
                        return .commit
                    }
                    guard let value else { throw DatabaseError(message: "transaction without a result") }
                    return value
                }
            }
        } catch {
            throw StoreFailure.serviceError(error, doing: purpose)
        }
    }
}
