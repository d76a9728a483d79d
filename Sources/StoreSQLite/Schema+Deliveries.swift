extension Schema {
    /// The tables of migration 0004.
    static let deliveriesAndConsent = """
        CREATE TABLE delivery (
            id TEXT PRIMARY KEY,
            app TEXT NOT NULL,
            caseId TEXT,
            user BLOB,
            caller TEXT NOT NULL,
            transactionId TEXT NOT NULL,
            -- NULL until Apple was asked.
            environment TEXT,
            -- The purchase besides; originalTransactionId is NULL until Apple was asked.
            originalTransactionId TEXT,
            appTransactionId TEXT,
            appAccountToken TEXT,
            productId TEXT,
            productType TEXT,
            purchaseDate INTEGER,
            isFamilyShared INTEGER,
            isAdvancedCommerce INTEGER,
            version TEXT NOT NULL,
            body BLOB NOT NULL,
            -- A JSON array; NULL where there are none.
            warnings BLOB,
            createdAt INTEGER NOT NULL,
            deadline INTEGER NOT NULL,
            state TEXT NOT NULL,
            -- Whether a queued one is known to be due; NULL in every other state.
            isReady INTEGER,
            nextAttemptAt INTEGER,
            -- When a queued one that is not ready must be looked at: for the next attempt, or as the deadline passes.
            dueAt INTEGER,
            attemptCount INTEGER NOT NULL DEFAULT 0,
            mayHaveReachedApple INTEGER NOT NULL DEFAULT 0,
            -- Failures are JSON objects, of any text.
            failure BLOB,
            -- Why its end was asked for while it was being sent.
            cancellation BLOB,
            -- The claim; NULL unless it is being sent.
            worker TEXT,
            claimedAt INTEGER,
            leaseUntil INTEGER,
            endedAt INTEGER
        ) STRICT;
        -- What the dispatcher walks holds queued rows alone, however many have ended. Each holds the column of its condition
        -- too, without which SQLite would read every row.
        CREATE INDEX deliveryReady ON delivery (deadline, id, app, environment, transactionId, isReady) WHERE isReady = 1;
        CREATE INDEX deliveryWaiting ON delivery (dueAt, deadline, isReady) WHERE isReady = 0;
        CREATE INDEX deliverySending ON delivery (app, transactionId, state) WHERE state = 'sending';
        CREATE INDEX deliveryUnderWay ON delivery (app, state, id, createdAt, deadline, endedAt) WHERE endedAt IS NULL;
        CREATE INDEX deliveryEnded ON delivery (app, state, id) WHERE endedAt IS NOT NULL;
        CREATE INDEX deliveryByEnd ON delivery (endedAt) WHERE endedAt IS NOT NULL;
        CREATE INDEX deliveryByApp ON delivery (app, id);
        CREATE INDEX deliveryByCase ON delivery (caseId, id) WHERE caseId IS NOT NULL;
        CREATE INDEX deliveryByUser ON delivery (app, user, id) WHERE user IS NOT NULL;
        CREATE INDEX deliveryByTransaction ON delivery (app, transactionId, id);
        CREATE INDEX deliveryByOriginal ON delivery (app, originalTransactionId) WHERE originalTransactionId IS NOT NULL;
        CREATE INDEX deliveryByAppTransaction ON delivery (app, appTransactionId) WHERE appTransactionId IS NOT NULL;
        CREATE INDEX deliveryByToken ON delivery (app, appAccountToken) WHERE appAccountToken IS NOT NULL;

        CREATE TABLE deliveryAttempt (
            deliveryId TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            startedAt INTEGER NOT NULL,
            microseconds INTEGER NOT NULL,
            httpStatus INTEGER,
            errorCode INTEGER,
            failure TEXT,
            PRIMARY KEY (deliveryId, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deliveryAttemptByTime ON deliveryAttempt (startedAt);

        -- Outlives no delivery: a key whose delivery is gone is not known.
        CREATE TABLE idempotencyKey (
            caller TEXT NOT NULL,
            app TEXT NOT NULL,
            -- Any bytes of UTF-8, as the user's id that it holds.
            route BLOB NOT NULL,
            key BLOB NOT NULL,
            requestDigest BLOB NOT NULL,
            deliveryId TEXT NOT NULL,
            createdAt INTEGER NOT NULL,
            PRIMARY KEY (caller, app, route, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idempotencyKeyByTime ON idempotencyKey (createdAt);
        CREATE INDEX idempotencyKeyByDelivery ON idempotencyKey (deliveryId);

        CREATE TABLE consent (
            -- The order of receipt here: the latest of a user decides.
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            user BLOB NOT NULL,
            isConsented INTEGER NOT NULL,
            -- Any bytes of UTF-8.
            source BLOB NOT NULL,
            at INTEGER NOT NULL,
            recordedAt INTEGER NOT NULL,
            recordedBy TEXT NOT NULL,
            -- The user's id as an appAccountToken is compared: without case.
            userFolded BLOB NOT NULL
        ) STRICT;
        CREATE INDEX consentByUser ON consent (app, user);
        CREATE INDEX consentByFoldedUser ON consent (app, userFolded);

        -- What erased users' withdrawals left: keyed hashes of the users and of the identifiers that were theirs.
        CREATE TABLE tombstone (
            hash BLOB NOT NULL,
            -- The hash of the user, for an identifier and for the user alike.
            userHash BLOB NOT NULL,
            PRIMARY KEY (hash, userHash)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tombstoneByUser ON tombstone (userHash);

        -- While one is not released, nothing is sent.
        CREATE TABLE sendingHold (
            position INTEGER PRIMARY KEY,
            since INTEGER NOT NULL,
            reason TEXT NOT NULL,
            releasedAt INTEGER,
            releasedBy TEXT
        ) STRICT;
        CREATE INDEX sendingHoldInForce ON sendingHold (since) WHERE releasedAt IS NULL;
        """

    /// The index of migration 0006.
    static let readyDeliveriesByLane = """
        -- Lane by lane, for a look that passes over lanes that rest.
        CREATE INDEX deliveryReadyByLane ON delivery (app, environment, deadline, id, transactionId, isReady)
            WHERE isReady = 1;
        """

    /// The counts of migration 0020, and what they and other queries make superfluous.
    static let countsOfDeliveries = """
        -- How many deliveries of an app are under way: kept with each change, so that nobody counts a million.
        CREATE TABLE deliveryCount (
            app TEXT NOT NULL,
            -- queued or sending.
            state TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (app, state)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO deliveryCount (app, state, count)
        SELECT app, state, count(*) FROM delivery WHERE endedAt IS NULL AND app > '' GROUP BY app, state;

        CREATE TRIGGER deliveryComes AFTER INSERT ON delivery WHEN NEW.state IN ('queued', 'sending') BEGIN
            INSERT INTO deliveryCount (app, state, count) VALUES (NEW.app, NEW.state, 1)
            ON CONFLICT (app, state) DO UPDATE SET count = count + 1;
        END;
        CREATE TRIGGER deliveryChanges AFTER UPDATE OF app, state ON delivery
        WHEN (OLD.app, OLD.state) <> (NEW.app, NEW.state) BEGIN
            UPDATE deliveryCount SET count = count - 1 WHERE app = OLD.app AND state = OLD.state;
            INSERT INTO deliveryCount (app, state, count) SELECT NEW.app, NEW.state, 1
            WHERE NEW.state IN ('queued', 'sending') ON CONFLICT (app, state) DO UPDATE SET count = count + 1;
        END;
        CREATE TRIGGER deliveryGoes AFTER DELETE ON delivery WHEN OLD.state IN ('queued', 'sending') BEGIN
            UPDATE deliveryCount SET count = count - 1 WHERE app = OLD.app AND state = OLD.state;
        END;

        -- Lists read the columns from the rows.
        DROP INDEX deliveryUnderWay;
        CREATE INDEX deliveryUnderWay ON delivery (app, state, id) WHERE endedAt IS NULL;
        -- A list of all is those of each state, merged.
        DROP INDEX deliveryByApp;
        -- Events are nearly in the order of their times: a time is found by halving.
        DROP INDEX eventByTime;
        -- Nobody asks for tokens by their time.
        DROP INDEX signedTokenByTime;
        """
}
