extension PostgresSchema {
    /// The tables of deliveries and consent.
    static let deliveries = """
        CREATE TABLE delivery (
            id TEXT PRIMARY KEY,
            app TEXT NOT NULL,
            caseId TEXT,
            "user" BYTEA,
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
            purchaseDate BIGINT,
            isFamilyShared BIGINT,
            isAdvancedCommerce BIGINT,
            version TEXT NOT NULL,
            body BYTEA NOT NULL,
            -- A JSON array; NULL where there are none.
            warnings BYTEA,
            createdAt BIGINT NOT NULL,
            deadline BIGINT NOT NULL,
            state TEXT NOT NULL,
            -- Whether a queued one is known to be due; NULL in every other state.
            isReady BIGINT,
            nextAttemptAt BIGINT,
            -- When a queued one that is not ready must be looked at: for the next attempt, or as the deadline passes.
            dueAt BIGINT,
            attemptCount BIGINT NOT NULL DEFAULT 0,
            mayHaveReachedApple BIGINT NOT NULL DEFAULT 0,
            -- Failures are JSON objects, of any text.
            failure BYTEA,
            -- Why its end was asked for while it was being sent.
            cancellation BYTEA,
            -- The claim; NULL unless it is being sent.
            worker TEXT,
            claimedAt BIGINT,
            leaseUntil BIGINT,
            endedAt BIGINT,
            webOrderLineItemId TEXT,
            expiresDate BIGINT,
            requestedDeadline BIGINT,
            acceptedFor BYTEA,
            refundPreference TEXT,
            policyRule TEXT,
            policyFacts BYTEA
        );
        CREATE INDEX deliveryReady ON delivery (deadline, id, app, environment, transactionId, isReady)
            WHERE isReady = 1;
        CREATE INDEX deliveryWaiting ON delivery (dueAt, deadline, isReady) WHERE isReady = 0;
        CREATE INDEX deliverySending ON delivery (app, transactionId, state) WHERE state = 'sending';
        CREATE INDEX deliveryEnded ON delivery (app, state, id) WHERE endedAt IS NOT NULL;
        CREATE INDEX deliveryByEnd ON delivery (endedAt) WHERE endedAt IS NOT NULL;
        CREATE INDEX deliveryByCase ON delivery (caseId, id) WHERE caseId IS NOT NULL;
        CREATE INDEX deliveryByTransaction ON delivery (app, transactionId, id);
        CREATE INDEX deliveryByOriginal ON delivery (app, originalTransactionId)
            WHERE originalTransactionId IS NOT NULL;
        CREATE INDEX deliveryByAppTransaction ON delivery (app, appTransactionId) WHERE appTransactionId IS NOT NULL;
        CREATE INDEX deliveryByToken ON delivery (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX deliveryReadyByLane ON delivery (app, environment, deadline, id, transactionId, isReady)
            WHERE isReady = 1;
        CREATE INDEX deliveryByUser ON delivery (app, acceptedFor, id) WHERE acceptedFor IS NOT NULL;
        CREATE INDEX deliveryUnderWay ON delivery (app, state, id) WHERE endedAt IS NULL;
        CREATE INDEX deliveryOfSandbox ON delivery (endedAt) WHERE environment = 'Sandbox' AND endedAt IS NOT NULL;

        CREATE TABLE deliveryAttempt (
            deliveryId TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
            number BIGINT NOT NULL,
            startedAt BIGINT NOT NULL,
            microseconds BIGINT NOT NULL,
            httpStatus BIGINT,
            errorCode BIGINT,
            failure TEXT,
            PRIMARY KEY (deliveryId, number)
        );
        CREATE INDEX deliveryAttemptByTime ON deliveryAttempt (startedAt);

        CREATE TABLE idempotencyKey (
            caller TEXT NOT NULL,
            app TEXT NOT NULL,
            -- Any bytes of UTF-8, as the user's id that it holds.
            route BYTEA NOT NULL,
            key BYTEA NOT NULL,
            requestDigest BYTEA NOT NULL,
            deliveryId TEXT NOT NULL,
            createdAt BIGINT NOT NULL,
            PRIMARY KEY (caller, app, route, key)
        );
        CREATE INDEX idempotencyKeyByTime ON idempotencyKey (createdAt);
        CREATE INDEX idempotencyKeyByDelivery ON idempotencyKey (deliveryId);

        CREATE TABLE deliveryCount (
            app TEXT NOT NULL,
            -- queued or sending.
            state TEXT NOT NULL,
            count BIGINT NOT NULL,
            PRIMARY KEY (app, state)
        );

        CREATE TABLE consent (
            -- The order of receipt here: the latest of a user decides.
            position BIGINT PRIMARY KEY DEFAULT nextPosition('consent'),
            app TEXT NOT NULL,
            "user" BYTEA NOT NULL,
            isConsented BIGINT NOT NULL,
            -- Any bytes of UTF-8.
            source BYTEA NOT NULL,
            at BIGINT NOT NULL,
            recordedAt BIGINT NOT NULL,
            recordedBy TEXT NOT NULL,
            -- The user's id as an appAccountToken is compared: without case.
            userFolded BYTEA NOT NULL,
            wordingVersion TEXT,
            locale TEXT,
            isByGuardian BIGINT NOT NULL DEFAULT 0
        );
        CREATE INDEX consentByUser ON consent (app, "user");
        CREATE INDEX consentByFoldedUser ON consent (app, userFolded);

        CREATE TABLE tombstone (
            hash BYTEA NOT NULL,
            -- The hash of the user, for an identifier and for the user alike.
            userHash BYTEA NOT NULL,
            PRIMARY KEY (hash, userHash)
        );
        CREATE INDEX tombstoneByUser ON tombstone (userHash);

        CREATE TABLE sendingHold (
            position BIGINT PRIMARY KEY DEFAULT nextPosition('sendingHold'),
            since BIGINT NOT NULL,
            reason TEXT NOT NULL,
            releasedAt BIGINT,
            releasedBy TEXT
        );
        CREATE INDEX sendingHoldInForce ON sendingHold (since) WHERE releasedAt IS NULL;

        CREATE TABLE rescission (
            account BYTEA NOT NULL,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            signedAt BIGINT NOT NULL,
            recordedAt BIGINT NOT NULL,
            PRIMARY KEY (account, signedAt)
        );
        CREATE INDEX rescissionByApp ON rescission (app, environment);
        """

    /// How many deliveries of an app are under way: kept with each change, so that nobody counts a million.
    static let countsOfDeliveries = """
        CREATE FUNCTION countDelivery() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP <> 'INSERT' AND OLD.state IN ('queued', 'sending') THEN
                UPDATE deliveryCount SET count = count - 1 WHERE app = OLD.app AND state = OLD.state;
            END IF;
            IF TG_OP <> 'DELETE' AND NEW.state IN ('queued', 'sending') THEN
                INSERT INTO deliveryCount AS known (app, state, count) VALUES (NEW.app, NEW.state, 1)
                ON CONFLICT (app, state) DO UPDATE SET count = known.count + 1;
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER deliveryComesOrGoes AFTER INSERT OR DELETE ON delivery
            FOR EACH ROW EXECUTE FUNCTION countDelivery();
        CREATE TRIGGER deliveryChanges AFTER UPDATE OF app, state ON delivery
            FOR EACH ROW WHEN ((OLD.app, OLD.state) IS DISTINCT FROM (NEW.app, NEW.state))
            EXECUTE FUNCTION countDelivery();
        """
}
