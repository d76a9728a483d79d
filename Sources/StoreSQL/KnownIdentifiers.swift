package import Domain

extension SQLStore {
    package func known(app: String, identifiers: Set<String>) async throws(ServiceError) -> [KnownIdentifier] {
        guard !identifiers.isEmpty else { return [] }
        return try await read("read remembered identifiers") { database in
            var known: [KnownIdentifier] = []
            for chunk in identifiers.sorted().chunks(of: SQLList.maximumLength) {
                let rows = try SQLRow.fetchAll(
                    database,
                    sql: """
                        SELECT identifier, environment, appTransactionId FROM knownIdentifier
                        WHERE app = ? AND identifier IN (\(SQLList.placeholders(chunk.count)))
                        """,
                    arguments: SQLArguments([app] + chunk))
                known += try rows.compactMap { row in
                    try AppStoreEnvironment(rawValue: row.value("environment")).map {
                        KnownIdentifier(
                            identifier: try row.value("identifier"), environment: $0,
                            appTransactionID: try row.value("appTransactionId"))
                    }
                }
            }
            return known
        }
    }

    package func remember(_ entries: [KnownIdentifier], app: String) async throws(ServiceError) {
        guard !entries.isEmpty else { return }
        let maximum = maximumKnownIdentifiers
        try await write("remember identifiers") { database in
            try KnownIdentifierRow.remember(entries, app: app, keeping: maximum, in: database)
        }
    }
}

/// What is remembered of identifiers, as it stands in its table.
enum KnownIdentifierRow {
    /// How many more identifiers one write may forget than it adds, for a maximum that was lowered.
    private static let forgettingSlack = 500

    /// The Apple Account of a transaction, if an earlier answer of Apple's named it.
    static func account(
        of identifier: String, app: String, _ environment: AppStoreEnvironment?, _ database: SQLDatabase
    ) throws -> String? {
        guard let environment else { return nil }
        let statement = try database.cachedStatement(
            sql: """
                SELECT appTransactionId FROM knownIdentifier WHERE app = ? AND identifier = ? AND environment = ?
                """)
        return try SQLRow.fetchOne(statement, arguments: [app, identifier, environment.rawValue])
            .flatMap { try $0.value("appTransactionId") }
    }

    /// The identifiers of an Apple Account, in one environment.
    static func identifiers(
        ofAccount account: String, app: String, _ environment: AppStoreEnvironment, limit: Int, in database: SQLDatabase
    ) throws -> [String] {
        try String.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT identifier FROM knownIdentifier WHERE app = ? AND appTransactionId = ? AND environment = ?
                    LIMIT ?
                    """), arguments: [app, account, environment.rawValue, limit])
    }

    /// Records what was learnt, and forgets the oldest beyond a maximum.
    static func remember(
        _ entries: [KnownIdentifier], app: String, keeping maximum: Int, in database: SQLDatabase
    ) throws {
        // An unchanged entry is no write, so that what is known already costs no page.
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO knownIdentifier (app, identifier, environment, appTransactionId) VALUES (?, ?, ?, ?)
                ON CONFLICT (app, identifier, environment) DO UPDATE SET appTransactionId = excluded.appTransactionId
                WHERE excluded.appTransactionId IS NOT NULL
                    AND knownIdentifier.appTransactionId IS NOT excluded.appTransactionId
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

// MARK: Releases

extension SQLStore {
    package func hasRelease(bundleID: String) async throws(ServiceError) -> Bool {
        try await read("read whether an app has a release") { database in
            try Int.fetchOne(
                database, sql: "SELECT 1 FROM productionRelease WHERE bundleId = ?", arguments: [bundleID]) != nil
        }
    }

    package func rememberReleases(ofBundleIDs bundleIDs: Set<String>) async throws(ServiceError) {
        try await write("remember that apps have a release") { database in
            let statement = try database.cachedStatement(
                sql: "INSERT INTO productionRelease (bundleId) VALUES (?) ON CONFLICT DO NOTHING")
            for bundleID in bundleIDs.sorted() { try statement.execute(arguments: [bundleID]) }
        }
    }
}
