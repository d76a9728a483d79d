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
}
