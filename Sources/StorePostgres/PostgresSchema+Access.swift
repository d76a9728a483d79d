extension PostgresSchema {
    /// The tables of callers, keys, budgets and what belongs to the installation.
    static let access = """
        CREATE TABLE installationKey (
            name TEXT PRIMARY KEY,
            value BYTEA NOT NULL
        );

        CREATE TABLE probe (
            id BIGINT PRIMARY KEY,
            count BIGINT NOT NULL
        );

        CREATE TABLE budgetRecord (
            minute BIGINT NOT NULL,
            app TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            environment TEXT NOT NULL,
            -- Empty for our own work.
            caller TEXT NOT NULL,
            priority TEXT NOT NULL,
            calls BIGINT NOT NULL,
            PRIMARY KEY (minute, app, endpoint, environment, caller, priority)
        );

        CREATE TABLE budgetBlock (
            until BIGINT NOT NULL,
            app TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            environment TEXT NOT NULL,
            PRIMARY KEY (until, app, endpoint, environment)
        );

        CREATE TABLE callerKey (
            id BIGINT PRIMARY KEY DEFAULT nextPosition('callerKey'),
            keyId TEXT NOT NULL UNIQUE,
            caller TEXT NOT NULL,
            app TEXT NOT NULL,
            -- The SubjectPublicKeyInfo in DER.
            publicKey BYTEA NOT NULL,
            -- With commas in between; NULL where the configuration tells.
            scopes TEXT,
            createdAt BIGINT NOT NULL,
            revokedAt BIGINT
        );
        CREATE INDEX callerKeyByCaller ON callerKey (caller);

        CREATE TABLE caller (
            name TEXT NOT NULL PRIMARY KEY,
            createdAt BIGINT NOT NULL
        );

        CREATE TABLE callerGrant (
            caller TEXT NOT NULL REFERENCES caller (name) ON DELETE CASCADE,
            app TEXT NOT NULL,
            scope TEXT NOT NULL,
            PRIMARY KEY (caller, app, scope)
        );

        CREATE TABLE callerToken (
            tokenId TEXT NOT NULL PRIMARY KEY,
            caller TEXT NOT NULL REFERENCES caller (name) ON DELETE CASCADE,
            -- SHA-256 of the token.
            digest BYTEA NOT NULL UNIQUE,
            createdAt BIGINT NOT NULL,
            -- NULL for never.
            expiresAt BIGINT,
            revokedAt BIGINT,
            -- The caller's tokens in the order in which they were made.
            position BIGINT NOT NULL
        );
        CREATE INDEX callerTokenByCaller ON callerToken (caller, position);

        CREATE TABLE callerBinding (
            kind TEXT NOT NULL,
            value TEXT NOT NULL,
            caller TEXT NOT NULL REFERENCES caller (name) ON DELETE CASCADE,
            PRIMARY KEY (kind, value)
        );
        CREATE INDEX callerBindingByCaller ON callerBinding (caller);

        CREATE TABLE callerUse (
            caller TEXT NOT NULL,
            -- Such as `token:Ab12Cd34`.
            credential TEXT NOT NULL,
            lastUsedAt BIGINT NOT NULL,
            PRIMARY KEY (caller, credential)
        );

        CREATE TABLE callerGeneration (
            id BIGINT PRIMARY KEY CHECK (id = 1),
            generation BIGINT NOT NULL
        );

        CREATE TABLE sealedSecret (
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            -- AES-256-GCM under a data key of its own, wrapped by the master key, which is not kept here.
            sealed BYTEA NOT NULL,
            masterKeyId TEXT NOT NULL,
            createdAt BIGINT NOT NULL,
            PRIMARY KEY (kind, name)
        );

        CREATE TABLE importedKey (
            keyId TEXT PRIMARY KEY,
            issuerId TEXT NOT NULL,
            -- Slugs in ascending order, with commas in between.
            apps TEXT NOT NULL,
            -- SHA-256 of the public half: which key it is, for people.
            fingerprint BYTEA NOT NULL,
            importedAt BIGINT NOT NULL,
            -- Which operator.
            importedBy TEXT NOT NULL
        );

        CREATE TABLE keyRole (
            app TEXT NOT NULL,
            keyId TEXT NOT NULL,
            kind TEXT NOT NULL,
            cause TEXT NOT NULL,
            replacedKeyId TEXT,
            -- What the configuration declared active then: the role stands as long as it declares the same.
            declaredKeyId TEXT,
            since BIGINT NOT NULL,
            PRIMARY KEY (app, keyId)
        );
        CREATE UNIQUE INDEX keyRoleActive ON keyRole (app) WHERE kind = 'active';

        CREATE TABLE keyHistory (
            keyId TEXT PRIMARY KEY,
            firstSeenAt BIGINT NOT NULL,
            lastUsedAt BIGINT,
            retiredAt BIGINT,
            revokedAt BIGINT,
            directoryFingerprint TEXT
        );

        CREATE TABLE auditPseudonym (
            app TEXT NOT NULL,
            "user" BYTEA NOT NULL,
            pseudonym TEXT NOT NULL,
            PRIMARY KEY (app, "user")
        );

        CREATE TABLE productionRelease (
            bundleId TEXT PRIMARY KEY
        );
        """

    /// The table of migration 0011: what copies of the daemon may still call.
    ///
    /// SQLite has none of it.
    static let budgetSlices = """
        CREATE TABLE budgetSlice (
            app TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            environment TEXT NOT NULL,
            -- `interactive` or `deadlineBound`.
            priority TEXT NOT NULL,
            copy TEXT NOT NULL,
            -- Calls that the copy may make without another word.
            calls BIGINT NOT NULL,
            heldUntil BIGINT NOT NULL,
            PRIMARY KEY (app, endpoint, environment, priority, copy)
        );
        CREATE INDEX budgetSliceByEnd ON budgetSlice (heldUntil);
        CREATE INDEX budgetRecordByBudget ON budgetRecord (app, endpoint, environment, minute);
        CREATE INDEX budgetBlockByBudget ON budgetBlock (app, endpoint, environment, until);
        """
}
