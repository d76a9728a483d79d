import Foundation
import GRDB

/// A secret of this installation as it stands in its table.
enum InstallationKeyRow {
    /// The key of this name; a fresh one becomes it where there is none.
    static func fetch(_ name: String, orKeep fresh: [UInt8], in database: Database) throws -> [UInt8] {
        try database.execute(
            sql: "INSERT OR IGNORE INTO installationKey (name, value) VALUES (?, ?)", arguments: [name, Data(fresh)])
        let kept = try Data.fetchOne(
            database, sql: "SELECT value FROM installationKey WHERE name = ?", arguments: [name])
        // Never make do with less: an empty key would authenticate everything.
        guard let kept, !kept.isEmpty else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an installation key is missing")
        }
        return Array(kept)
    }
}
