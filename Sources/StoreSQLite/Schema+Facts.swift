extension Schema {
    /// The tables and columns of migration 0007: what cases and deliveries of one purchase share, and facts that come in any order.
    static let factsInAnyOrder = """
        ALTER TABLE notification ADD COLUMN expiresDate INTEGER;
        ALTER TABLE refundCase ADD COLUMN webOrderLineItemId TEXT;
        ALTER TABLE refundCase ADD COLUMN expiresDate INTEGER;
        ALTER TABLE delivery ADD COLUMN webOrderLineItemId TEXT;
        ALTER TABLE delivery ADD COLUMN expiresDate INTEGER;
        -- The end that its caller asked for; NULL where it did not.
        ALTER TABLE delivery ADD COLUMN requestedDeadline INTEGER;
        -- The named user, else the owner when it was accepted.
        ALTER TABLE delivery ADD COLUMN acceptedFor BLOB;
        ALTER TABLE consent ADD COLUMN wordingVersion TEXT;
        ALTER TABLE consent ADD COLUMN locale TEXT;
        ALTER TABLE consent ADD COLUMN isByGuardian INTEGER NOT NULL DEFAULT 0;

        -- Rescissions were withdrawals of the users that were linked then; they are applied again, to their accounts.
        UPDATE notification SET processedAt = NULL WHERE type = 'RESCIND_CONSENT' AND appTransactionId IS NOT NULL;

        -- What was under way keeps the end that it had.
        UPDATE delivery SET requestedDeadline = deadline WHERE endedAt IS NULL;
        UPDATE delivery SET acceptedFor = user WHERE user IS NOT NULL;
        UPDATE refundCase SET webOrderLineItemId = (
            SELECT notification.webOrderLineItemId FROM notification
            WHERE notification.app = refundCase.app AND notification.transactionId = refundCase.transactionId
                AND notification.environment = refundCase.environment LIMIT 1);
        UPDATE delivery SET webOrderLineItemId = (
            SELECT refundCase.webOrderLineItemId FROM refundCase WHERE refundCase.id = delivery.caseId)
        WHERE caseId IS NOT NULL;

        DROP INDEX deliveryByUser;
        CREATE INDEX deliveryByUser ON delivery (app, acceptedFor, id) WHERE acceptedFor IS NOT NULL;
        -- The owner of a case follows the facts in every state.
        DROP INDEX openCaseByTransaction;
        DROP INDEX openCaseByOriginal;
        DROP INDEX openCaseByAppTransaction;
        DROP INDEX openCaseByToken;
        CREATE INDEX refundCaseByOriginal ON refundCase (app, originalTransactionId, deadline, id);
        CREATE INDEX refundCaseByAppTransaction ON refundCase (app, appTransactionId) WHERE appTransactionId IS NOT NULL;
        CREATE INDEX refundCaseByToken ON refundCase (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX notificationByToken ON notification (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX rescissionUnprocessed ON notification (app, appTransactionId, type, processedAt)
            WHERE processedAt IS NULL AND type = 'RESCIND_CONSENT';

        -- The token in the newest data that Apple signed about a transaction.
        CREATE TABLE signedToken (
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            transactionId TEXT NOT NULL,
            appAccountToken TEXT,
            signedAt INTEGER NOT NULL,
            PRIMARY KEY (app, environment, transactionId)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX signedTokenByToken ON signedToken (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX signedTokenByTime ON signedToken (signedAt);

        -- Tokens that Apple accepted from us.
        CREATE TABLE acceptedToken (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            originalTransactionId TEXT NOT NULL,
            appAccountToken TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX acceptedTokenByOriginal ON acceptedToken (app, originalTransactionId);
        CREATE INDEX acceptedTokenByToken ON acceptedToken (app, appAccountToken);

        -- What guardians took back, by keyed hashes of Apple Accounts; outlives every erasure.
        CREATE TABLE rescission (
            account BLOB NOT NULL,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            signedAt INTEGER NOT NULL,
            recordedAt INTEGER NOT NULL,
            PRIMARY KEY (account, signedAt)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX rescissionByApp ON rescission (app, environment);

        -- The settings of apps that the rules look at; an app without a row has the default ones.
        CREATE TABLE appSetting (
            app TEXT PRIMARY KEY,
            userIDs TEXT NOT NULL,
            -- A JSON array.
            ignoredTokens TEXT NOT NULL,
            guardianBlocksConsumption INTEGER NOT NULL,
            minimumWordingVersion TEXT,
            -- Up to which case owners have been judged by these settings; NULL when all have.
            ownersJudgedUpTo TEXT
        ) STRICT, WITHOUT ROWID;
        """
}

extension Schema {
    /// The columns of migration 0023, filled from what Apple signed.
    static let termsOfCases = """
        -- What the transaction cost, in thousandths of the currency, and where; of a refund, its part in milliunits.
        ALTER TABLE notification ADD COLUMN price INTEGER;
        ALTER TABLE notification ADD COLUMN currency TEXT;
        ALTER TABLE notification ADD COLUMN storefront TEXT;
        ALTER TABLE notification ADD COLUMN revocationPercentage INTEGER;
        ALTER TABLE refundCase ADD COLUMN price INTEGER;
        ALTER TABLE refundCase ADD COLUMN currency TEXT;
        ALTER TABLE refundCase ADD COLUMN storefront TEXT;
        ALTER TABLE refundCase ADD COLUMN revocationPercentage INTEGER;

        -- What the answer asked Apple for; the rule of the app's policy that made it, and from which facts (JSON).
        ALTER TABLE delivery ADD COLUMN refundPreference TEXT;
        ALTER TABLE delivery ADD COLUMN policyRule TEXT;
        ALTER TABLE delivery ADD COLUMN policyFacts BLOB;

        UPDATE notification SET (price, currency, storefront, revocationPercentage) = (
            SELECT CASE json_type(payload, '$.price') WHEN 'integer' THEN json_extract(payload, '$.price') END,
                CASE json_type(payload, '$.currency') WHEN 'text' THEN json_extract(payload, '$.currency') END,
                CASE json_type(payload, '$.storefront') WHEN 'text' THEN json_extract(payload, '$.storefront') END,
                CASE json_type(payload, '$.revocationPercentage') WHEN 'integer'
                    THEN json_extract(payload, '$.revocationPercentage') END
            FROM (
                SELECT CAST(transactionPayload AS TEXT) AS payload FROM notificationContent
                WHERE notificationContent.position = notification.position))
        WHERE type IN ('CONSUMPTION_REQUEST', 'REFUND') AND transactionId IS NOT NULL;
        UPDATE refundCase SET (price, currency, storefront) = (
            SELECT price, currency, storefront FROM caseRequest
            JOIN notification ON notification.app = refundCase.app AND notification.uuid = caseRequest.notificationUuid
            WHERE caseRequest.caseId = refundCase.id ORDER BY caseRequest.signedAt LIMIT 1);
        UPDATE refundCase SET revocationPercentage = (
            SELECT notification.revocationPercentage FROM notification
            WHERE notification.app = refundCase.app AND notification.transactionId = refundCase.transactionId
                AND notification.type = 'REFUND'
                AND coalesce(notification.signedDate, notification.transactionSignedDate) = refundCase.decidedAt LIMIT 1)
        WHERE outcome IN ('refunded', 'refundReversed');
        UPDATE delivery SET refundPreference = json_extract(CAST(body AS TEXT), '$.refundPreference')
        WHERE version = 'V2' AND json_valid(CAST(body AS TEXT));
        UPDATE delivery SET refundPreference =
            CASE json_extract(CAST(body AS TEXT), '$.refundPreference')
                WHEN 1 THEN 'GRANT_FULL' WHEN 2 THEN 'DECLINE' END
        WHERE version = 'V1' AND json_valid(CAST(body AS TEXT));
        """
}
