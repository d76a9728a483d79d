import Domain
import GRDB

/// What is remembered of identifiers, as it stands in its table.
enum KnownIdentifierRow {
    /// How many more identifiers one write may forget than it adds, for a maximum that was lowered.
    private static let forgettingSlack = 500

    /// Records what was learnt, and forgets the oldest beyond a maximum.
    static func remember(
        _ entries: [KnownIdentifier], app: String, keeping maximum: Int, in database: Database
    ) throws {
        // An unchanged entry is no write, so that what is known already costs no page.
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO knownIdentifier (app, identifier, environment, appTransactionId) VALUES (?, ?, ?, ?)
                ON CONFLICT (app, identifier, environment) DO UPDATE SET appTransactionId = excluded.appTransactionId
                WHERE excluded.appTransactionId IS NOT NULL AND appTransactionId IS NOT excluded.appTransactionId
                """)
        for entry in entries {
            try statement.execute(
                arguments: [app, entry.identifier, entry.environment.rawValue, entry.appTransactionID])
        }
        try database.cachedStatement(
            sql: """
                DELETE FROM knownIdentifier
                WHERE id <= (SELECT max(id) FROM knownIdentifier) - ? AND id < (SELECT min(id) FROM knownIdentifier) + ?
                """
        ).execute(arguments: [maximum, entries.count + forgettingSlack])
    }
}
