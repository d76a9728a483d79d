import Domain
import GRDB

/// The tables, as migrations that only go forward.
///
/// Times are UNIX milliseconds. Text compares byte by byte. A user's id is a BLOB: it is any bytes of UTF-8, and GRDB binds
/// text as a C string, which ends at the first NUL, where another user's id may end too.
enum Schema {
    /// "Purs" in SQLite's `application_id`: tells our files from other programs'.
    ///
    /// Source: https://www.sqlite.org/pragma.html#pragma_application_id
    static let applicationID = 0x5075_7273

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("0001 links, known identifiers, installation keys") { database in
            try database.execute(
                sql: """
                    CREATE TABLE link (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        app TEXT NOT NULL,
                        user BLOB NOT NULL,
                        kind TEXT NOT NULL,
                        value TEXT NOT NULL,
                        environment TEXT,
                        source TEXT NOT NULL,
                        validFrom INTEGER,
                        validUntil INTEGER,
                        createdAt INTEGER NOT NULL,
                        createdBy TEXT NOT NULL,
                        -- The user's id as an appAccountToken is compared: without case.
                        userFolded BLOB NOT NULL
                    ) STRICT;
                    CREATE INDEX linkByTarget ON link (app, kind, value);
                    CREATE INDEX linkByUser ON link (app, user);
                    CREATE INDEX linkByFoldedUser ON link (app, userFolded) WHERE validUntil IS NULL;

                    -- Rows leave only at the low end of `id`, so that the ids tell how many there are.
                    CREATE TABLE knownIdentifier (
                        id INTEGER PRIMARY KEY,
                        app TEXT NOT NULL,
                        identifier TEXT NOT NULL,
                        environment TEXT NOT NULL,
                        appTransactionId TEXT,
                        UNIQUE (app, identifier, environment)
                    ) STRICT;

                    CREATE TABLE installationKey (
                        name TEXT PRIMARY KEY,
                        value BLOB NOT NULL
                    ) STRICT, WITHOUT ROWID;

                    CREATE TABLE probe (
                        id INTEGER PRIMARY KEY,
                        count INTEGER NOT NULL
                    ) STRICT;
                    INSERT INTO probe (id, count) VALUES (1, 0);
                    """)
        }
        migrator.registerMigration("0002 rate budgets") { database in
            try database.execute(
                sql: """
                    -- Calls to Apple by minute, so that a restart does not forget what was used of the last hour.
                    CREATE TABLE budgetRecord (
                        minute INTEGER NOT NULL,
                        app TEXT NOT NULL,
                        endpoint TEXT NOT NULL,
                        environment TEXT NOT NULL,
                        -- Empty for our own work.
                        caller TEXT NOT NULL,
                        priority TEXT NOT NULL,
                        calls INTEGER NOT NULL,
                        PRIMARY KEY (minute, app, endpoint, environment, caller, priority)
                    ) STRICT, WITHOUT ROWID;

                    -- Apple's wishes to wait.
                    CREATE TABLE budgetBlock (
                        until INTEGER NOT NULL,
                        app TEXT NOT NULL,
                        endpoint TEXT NOT NULL,
                        environment TEXT NOT NULL,
                        PRIMARY KEY (until, app, endpoint, environment)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("0003 caller keys") { database in
            try database.execute(
                sql: """
                    CREATE TABLE callerKey (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        keyId TEXT NOT NULL UNIQUE,
                        caller TEXT NOT NULL,
                        app TEXT NOT NULL,
                        -- The SubjectPublicKeyInfo in DER.
                        publicKey BLOB NOT NULL,
                        -- With commas in between; NULL where the configuration tells.
                        scopes TEXT,
                        createdAt INTEGER NOT NULL,
                        revokedAt INTEGER
                    ) STRICT;
                    """)
        }
        migrator.registerMigration("0004 deliveries and consent") { database in
            try database.execute(sql: deliveriesAndConsent)
        }
        migrator.registerMigration("0005 notifications, cases and events") { database in
            try database.execute(sql: notificationsCasesAndEvents)
        }
        migrator.registerMigration("0006 ready deliveries by lane") { database in
            try database.execute(sql: readyDeliveriesByLane)
        }
        migrator.registerMigration("0007 facts in any order") { database in
            try database.execute(sql: factsInAnyOrder)
        }
        migrator.registerMigration("0008 quarantine to be verified anew") { database in
            try database.execute(sql: quarantineToBeVerifiedAnew)
        }
        migrator.registerMigration("0009 epoch of events") { database in
            try database.execute(
                sql: """
                    -- One row: which store the positions of events are of. Whoever copies the store draws another one.
                    CREATE TABLE eventEpoch (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        epoch TEXT NOT NULL,
                        -- Cursors without an epoch, which earlier releases gave out, are good up to here.
                        latestWithoutEpoch INTEGER NOT NULL
                    ) STRICT;
                    INSERT INTO eventEpoch (id, epoch, latestWithoutEpoch)
                    SELECT 1, lower(hex(randomblob(8))),
                        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0);
                    """)
        }
        migrator.registerMigration("0010 receipts") { database in
            try database.execute(sql: receipts)
        }
        migrator.registerMigration("0012 key take-overs") { database in
            try database.execute(
                sql: """
                    -- Standby keys that sign in the place of keys that Apple refuses.
                    CREATE TABLE keyTakeover (
                        app TEXT NOT NULL,
                        refusedKeyId TEXT NOT NULL,
                        keyId TEXT NOT NULL,
                        at INTEGER NOT NULL,
                        PRIMARY KEY (app, refusedKeyId)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("0013 sealed secrets and imported keys") { database in
            try database.execute(sql: sealedSecrets)
        }
        migrator.registerMigration("0014 callers") { database in
            try database.execute(sql: callers)
            try addCallersOfKeys(database)
        }
        migrator.registerMigration("0015 pseudonyms of the audit") { database in
            try database.execute(
                sql: """
                    -- Under which names the audit speaks of users; erasing a user forgets the name.
                    CREATE TABLE auditPseudonym (
                        app TEXT NOT NULL,
                        user BLOB NOT NULL,
                        pseudonym TEXT NOT NULL,
                        PRIMARY KEY (app, user)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("0016 production releases") { database in
            try database.execute(
                sql: """
                    -- Apps of which Apple's Production has once taken a token.
                    CREATE TABLE productionRelease (
                        bundleId TEXT PRIMARY KEY
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("0017 key roles") { database in
            try database.execute(sql: keyRoles)
        }
        migrator.registerMigration("0018 unprocessed notifications by app") { database in
            try database.execute(sql: unprocessedNotificationsByApp)
        }
        migrator.registerMigration("0019 keys of directories") { database in
            try database.execute(sql: keysOfDirectories)
        }
        migrator.registerMigration("0020 counts of deliveries") { database in
            try database.execute(sql: countsOfDeliveries)
        }
        migrator.registerMigration("0021 usage") { database in
            try database.execute(sql: usage)
        }
        migrator.registerMigration("0022 callbacks") { database in
            try database.execute(sql: callbacks)
        }
        migrator.registerMigration("0023 terms of cases, answers of policies") { database in
            try database.execute(sql: termsOfCases)
        }
        migrator.registerMigration("0024 refund requests by time, counts of decisions") { database in
            try database.execute(
                sql: """
                    -- A report reads the cases of a span of time, in their order.
                    CREATE INDEX refundCaseByRequest ON refundCase (app, environment, requestedAt);

                    -- Decisions of Apple's since the store is there; retention takes nothing away.
                    CREATE TABLE refundDecisionCount (
                        app TEXT NOT NULL,
                        environment TEXT NOT NULL,
                        outcome TEXT NOT NULL,
                        -- Of the answer that Apple had accepted; empty where there was none, or it told none.
                        refundPreference TEXT NOT NULL,
                        count INTEGER NOT NULL,
                        PRIMARY KEY (app, environment, outcome, refundPreference)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("0025 retention of the Sandbox") { database in
            try database.execute(sql: retentionOfSandbox)
        }
        migrator.registerMigration("0026 answers of Apple's") { database in
            try database.execute(sql: appleAnswers)
        }
        migrator.registerMigration("0027 bundle ids in quarantine") { database in
            try database.execute(sql: bundleIDsInQuarantine)
        }
        return migrator
    }

    /// Looks whether a database is one that this version may open; changes nothing.
    ///
    /// - Throws: `storeUnavailable` when it is another program's or was written by a newer version; `DatabaseError`.
    static func check(_ database: Database, path: String) throws {
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
        guard try isEmpty || currentApplicationID(database) == applicationID else {
            throw StoreFile.failure(path, "it is a database of another program")
        }
        let unknown = try migrator.appliedIdentifiers(database).subtracting(migrator.migrations)
        guard unknown.isEmpty else {
            let names = unknown.sorted().map { "`\($0)`" }.joined(separator: ", ")
            throw ServiceError(
                .storeUnavailable,
                "The store \(path) was written by a newer version of Purser, with migrations that this one does not know: \(names); run that version.",
                cause: "unknown migrations: \(names)")
        }
    }

    /// Brings a database that was checked to this version's tables.
    static func migrate(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { database in
            guard try currentApplicationID(database) != applicationID else { return }
            try database.execute(sql: "PRAGMA application_id = \(applicationID)")
        }
        try migrator.migrate(pool)
    }

    private static func currentApplicationID(_ database: Database) throws -> Int? {
        try Int.fetchOne(database, sql: "PRAGMA application_id")
    }
}
