extension Schema {
    /// The tables of migration 0013: secrets that the database keeps without being able to open them, and what is known of
    /// the keys that operators have imported.
    static let sealedSecrets = """
        CREATE TABLE sealedSecret (
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            -- AES-256-GCM under a data key of its own, wrapped by the master key, which is not kept here.
            sealed BLOB NOT NULL,
            masterKeyId TEXT NOT NULL,
            createdAt INTEGER NOT NULL,
            PRIMARY KEY (kind, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE importedKey (
            keyId TEXT PRIMARY KEY,
            issuerId TEXT NOT NULL,
            -- Slugs in ascending order, with commas in between.
            apps TEXT NOT NULL,
            -- SHA-256 of the public half: which key it is, for people.
            fingerprint BLOB NOT NULL,
            importedAt INTEGER NOT NULL,
            -- Which operator.
            importedBy TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// The tables of migration 0017: which keys sign for which apps where the configuration alone does not say it, and what has
    /// happened to keys.
    ///
    /// Take-overs, which had a table of their own, become such roles: the last of each app is in force, and
    /// what it rests on is the key that was refused first.
    static let keyRoles = """
        CREATE TABLE keyRole (
            app TEXT NOT NULL,
            keyId TEXT NOT NULL,
            kind TEXT NOT NULL,
            cause TEXT NOT NULL,
            replacedKeyId TEXT,
            -- What the configuration declared active then: the role stands as long as it declares the same.
            declaredKeyId TEXT,
            since INTEGER NOT NULL,
            PRIMARY KEY (app, keyId)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX keyRoleActive ON keyRole (app) WHERE kind = 'active';

        CREATE TABLE keyHistory (
            keyId TEXT PRIMARY KEY,
            firstSeenAt INTEGER NOT NULL,
            lastUsedAt INTEGER,
            retiredAt INTEGER,
            revokedAt INTEGER
        ) STRICT, WITHOUT ROWID;

        INSERT INTO keyRole (app, keyId, kind, cause, replacedKeyId, declaredKeyId, since)
        SELECT latest.app, latest.keyId, 'active', 'takeover', latest.refusedKeyId,
            (SELECT refusedKeyId FROM keyTakeover first WHERE first.app = latest.app
                AND NOT EXISTS (SELECT 1 FROM keyTakeover WHERE app = first.app AND keyId = first.refusedKeyId)
                LIMIT 1),
            latest.at
        FROM keyTakeover latest
        WHERE NOT EXISTS (SELECT 1 FROM keyTakeover WHERE app = latest.app AND refusedKeyId = latest.keyId)
        ON CONFLICT DO NOTHING;

        INSERT INTO keyRole (app, keyId, kind, cause, declaredKeyId, since)
        SELECT app, refusedKeyId, 'retired', 'takeover',
            (SELECT declaredKeyId FROM keyRole WHERE app = keyTakeover.app AND kind = 'active'), at
        FROM keyTakeover WHERE true
        ON CONFLICT DO NOTHING;

        DROP TABLE keyTakeover;
        """

    /// The column of migration 0019.
    static let keysOfDirectories = """
        -- Which private key a directory has brought, by its public half; NULL where no directory has the key.
        ALTER TABLE keyHistory ADD COLUMN directoryFingerprint TEXT;
        """
}
