import GRDB

/// The tables, as migrations that only go forward.
///
/// Times are UNIX milliseconds. Text keys compare byte by byte.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("0001 links, known identifiers, installation keys") { database in
            try database.execute(
                sql: """
                    CREATE TABLE link (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        app TEXT NOT NULL,
                        user TEXT NOT NULL,
                        kind TEXT NOT NULL,
                        value TEXT NOT NULL,
                        environment TEXT,
                        source TEXT NOT NULL,
                        validFrom INTEGER,
                        validUntil INTEGER,
                        createdAt INTEGER NOT NULL,
                        createdBy TEXT NOT NULL,
                        -- The user's id as an appAccountToken is compared: without case.
                        userFolded TEXT NOT NULL
                    ) STRICT;
                    CREATE INDEX linkByTarget ON link (app, kind, value);
                    CREATE INDEX linkByUser ON link (app, user);
                    CREATE INDEX linkByFoldedUser ON link (app, userFolded) WHERE validUntil IS NULL;

                    CREATE TABLE knownIdentifier (
                        app TEXT NOT NULL,
                        identifier TEXT NOT NULL,
                        environment TEXT NOT NULL,
                        appTransactionId TEXT,
                        PRIMARY KEY (app, identifier, environment)
                    ) STRICT, WITHOUT ROWID;

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
        return migrator
    }
}
