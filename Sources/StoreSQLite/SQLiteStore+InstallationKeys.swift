import Foundation
import GRDB

extension SQLiteStore {
    /// A secret of this installation: made once, kept for ever.
    ///
    /// - Parameters:
    ///   - name: what it is for.
    ///   - make: makes its bytes at random.
    /// - Returns: the key, the same at every call.
    /// - Throws: `storeUnavailable`, or what `make` throws.
    package func installationKey(name: String, make: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8] {
        let fresh = Data(try make())
        return try await write("read an installation key") { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO installationKey (name, value) VALUES (?, ?)", arguments: [name, fresh])
            let kept = try Data.fetchOne(
                database, sql: "SELECT value FROM installationKey WHERE name = ?", arguments: [name])
            // Never make do with less: an empty key would authenticate everything.
            guard let kept, !kept.isEmpty else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an installation key is missing")
            }
            return Array(kept)
        }
    }
}
