extension Schema {
    /// The tables of migration 0008.
    static let quarantineToBeVerifiedAnew = """
        ALTER TABLE quarantine RENAME TO quarantineOnce;

        -- Notifications that do not verify as the apps' as they are configured, to be verified anew; one of each.
        CREATE TABLE quarantine (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            -- The UUID; where the notification has none, its signature.
            identity TEXT NOT NULL,
            uuid TEXT,
            environment TEXT,
            signedDate INTEGER,
            source TEXT NOT NULL,
            -- Those in Apple's history are bounded apart from those that somebody sent us.
            isFromHistory INTEGER NOT NULL,
            fault TEXT NOT NULL,
            -- First, and last.
            receivedAt INTEGER NOT NULL,
            lastReceivedAt INTEGER NOT NULL,
            -- When it was last verified anew, in vain.
            triedAt INTEGER,
            -- When it goes, whatever becomes of it.
            keptUntil INTEGER NOT NULL,
            signed TEXT NOT NULL,
            -- What it says of its purchase, unverified, by which an erasure finds it.
            transactionId TEXT,
            originalTransactionId TEXT,
            appTransactionId TEXT,
            appAccountToken TEXT,
            UNIQUE (app, identity)
        ) STRICT;
        CREATE INDEX quarantineByKind ON quarantine (isFromHistory);
        CREATE INDEX quarantineByApp ON quarantine (isFromHistory, app);
        CREATE INDEX quarantineByTime ON quarantine (lastReceivedAt);
        CREATE INDEX quarantineByReceipt ON quarantine (receivedAt);
        CREATE INDEX quarantineByEnd ON quarantine (keptUntil);
        CREATE INDEX quarantineByTransaction ON quarantine (app, transactionId) WHERE transactionId IS NOT NULL;
        CREATE INDEX quarantineByOriginal ON quarantine (app, originalTransactionId)
            WHERE originalTransactionId IS NOT NULL;
        CREATE INDEX quarantineByAppTransaction ON quarantine (app, appTransactionId)
            WHERE appTransactionId IS NOT NULL;
        CREATE INDEX quarantineByToken ON quarantine (app, appAccountToken) WHERE appAccountToken IS NOT NULL;

        -- What came so far said nothing of itself; Apple's repetitions of it fall together. 180 days are the longest that
        -- Apple's history holds anything.
        INSERT INTO quarantine (app, identity, uuid, source, isFromHistory, fault, receivedAt, lastReceivedAt, keptUntil, signed)
            SELECT app, coalesce(uuid, substr(signed, -86)), uuid, 'webhook', 0, fault, min(receivedAt), max(receivedAt),
                min(receivedAt) + 180 * 86400000, signed
            FROM quarantineOnce GROUP BY app, coalesce(uuid, substr(signed, -86)) ORDER BY min(position);
        DROP TABLE quarantineOnce;

        -- Since when the search for missed notifications has met what the quarantine had no room for.
        ALTER TABLE historyProgress ADD COLUMN unkeptSince INTEGER;
        """

    /// The column of migration 0027.
    static let bundleIDsInQuarantine = """
        -- Whether it names the bundle id of a configured app, unverified; strangers' are removed first. What came earlier counts
        -- as a stranger's until it is verified anew, at the start.
        ALTER TABLE quarantine ADD COLUMN namesOurs INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX quarantineByOwner ON quarantine (isFromHistory, namesOurs, app, position);
        """
}
