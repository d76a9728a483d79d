extension PostgresSchema {
    /// The tables of notifications, cases and events.
    static let notifications = """
        CREATE TABLE notification (
            -- The order in which they were recorded.
            position BIGINT PRIMARY KEY DEFAULT nextPosition('notification'),
            app TEXT NOT NULL,
            uuid TEXT NOT NULL,
            type TEXT NOT NULL,
            subtype TEXT,
            signedDate BIGINT,
            environment TEXT NOT NULL,
            source TEXT NOT NULL,
            receivedAt BIGINT NOT NULL,
            "user" BYTEA,
            processedAt BIGINT,
            consumptionRequestReason TEXT,
            -- Of the transaction or the app transaction.
            appTransactionId TEXT,
            -- The transaction; all NULL where the notification has none.
            transactionId TEXT,
            originalTransactionId TEXT,
            webOrderLineItemId TEXT,
            appAccountToken TEXT,
            productId TEXT,
            productType TEXT,
            purchaseDate BIGINT,
            transactionSignedDate BIGINT,
            revocationDate BIGINT,
            isFamilyShared BIGINT,
            isAdvancedCommerce BIGINT, expiresDate BIGINT, price BIGINT, currency TEXT,
            storefront TEXT, revocationPercentage BIGINT,
            UNIQUE (app, uuid)
        );
        CREATE INDEX notificationByApp ON notification (app);
        CREATE INDEX notificationByType ON notification (app, type);
        CREATE INDEX notificationByTransaction ON notification (app, transactionId) WHERE transactionId IS NOT NULL;
        CREATE INDEX notificationByOriginal ON notification (app, originalTransactionId)
            WHERE originalTransactionId IS NOT NULL;
        CREATE INDEX notificationByUser ON notification (app, "user") WHERE "user" IS NOT NULL;
        CREATE INDEX notificationByTime ON notification (receivedAt);
        CREATE INDEX notificationByToken ON notification (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX rescissionUnprocessed ON notification (app, appTransactionId, type, processedAt)
            WHERE processedAt IS NULL AND type = 'RESCIND_CONSENT';
        CREATE INDEX notificationUnprocessed ON notification (app) WHERE processedAt IS NULL;
        CREATE INDEX notificationOfSandbox ON notification (receivedAt) WHERE environment = 'Sandbox';

        CREATE TABLE notificationContent (
            position BIGINT PRIMARY KEY REFERENCES notification (position) ON DELETE CASCADE,
            payload BYTEA NOT NULL,
            transactionPayload BYTEA,
            renewalPayload BYTEA,
            appTransactionPayload BYTEA,
            signed TEXT NOT NULL,
            transactionSigned TEXT,
            renewalSigned TEXT,
            appTransactionSigned TEXT
        );

        CREATE TABLE quarantine (
            position BIGINT PRIMARY KEY DEFAULT nextPosition('quarantine'),
            app TEXT NOT NULL,
            -- The UUID; where the notification has none, its signature.
            identity TEXT NOT NULL,
            uuid TEXT,
            environment TEXT,
            signedDate BIGINT,
            source TEXT NOT NULL,
            -- Those in Apple's history are bounded apart from those that somebody sent us.
            isFromHistory BIGINT NOT NULL,
            fault TEXT NOT NULL,
            -- First, and last.
            receivedAt BIGINT NOT NULL,
            lastReceivedAt BIGINT NOT NULL,
            -- When it was last verified anew, in vain.
            triedAt BIGINT,
            -- When it goes, whatever becomes of it.
            keptUntil BIGINT NOT NULL,
            signed TEXT NOT NULL,
            -- What it says of its purchase, unverified, by which an erasure finds it.
            transactionId TEXT,
            originalTransactionId TEXT,
            appTransactionId TEXT,
            appAccountToken TEXT,
            UNIQUE (app, identity)
        );
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

        CREATE TABLE refundCase (
            id TEXT PRIMARY KEY,
            app TEXT NOT NULL,
            -- The purchase.
            environment TEXT NOT NULL,
            transactionId TEXT NOT NULL,
            originalTransactionId TEXT NOT NULL,
            appTransactionId TEXT,
            appAccountToken TEXT,
            productId TEXT,
            productType TEXT,
            purchaseDate BIGINT NOT NULL,
            isFamilyShared BIGINT NOT NULL,
            isAdvancedCommerce BIGINT NOT NULL,
            owner BYTEA,
            state TEXT NOT NULL,
            reason TEXT,
            requestedAt BIGINT NOT NULL,
            openedAt BIGINT NOT NULL,
            deadline BIGINT NOT NULL,
            declineCaller TEXT,
            -- Any bytes of UTF-8, as a user's id.
            declineNote BYTEA,
            declineAt BIGINT,
            outcome TEXT,
            decidedAt BIGINT,
            -- When the state last changed to what it is, unless it is open.
            closedAt BIGINT,
            webOrderLineItemId TEXT,
            expiresDate BIGINT,
            price BIGINT,
            currency TEXT,
            storefront TEXT,
            revocationPercentage BIGINT
        );
        CREATE INDEX refundCaseByDeadline ON refundCase (app, deadline, id);
        CREATE INDEX refundCaseByState ON refundCase (app, state, deadline, id);
        CREATE INDEX refundCaseByOwner ON refundCase (app, owner, deadline, id) WHERE owner IS NOT NULL;
        CREATE INDEX refundCaseByTransaction ON refundCase (app, transactionId, deadline, id);
        CREATE INDEX refundCaseClosed ON refundCase (closedAt) WHERE closedAt IS NOT NULL;
        CREATE INDEX openCaseByDeadline ON refundCase (deadline) WHERE state = 'open';
        CREATE INDEX openCaseByApp ON refundCase (app, environment, deadline) WHERE state = 'open';
        CREATE INDEX refundCaseByOriginal ON refundCase (app, originalTransactionId, deadline, id);
        CREATE INDEX refundCaseByAppTransaction ON refundCase (app, appTransactionId)
            WHERE appTransactionId IS NOT NULL;
        CREATE INDEX refundCaseByToken ON refundCase (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX refundCaseByRequest ON refundCase (app, environment, requestedAt);
        CREATE INDEX refundCaseOfSandbox ON refundCase (closedAt)
            WHERE environment = 'Sandbox' AND closedAt IS NOT NULL;

        CREATE TABLE caseRequest (
            caseId TEXT NOT NULL REFERENCES refundCase (id) ON DELETE CASCADE,
            signedAt BIGINT NOT NULL,
            notificationUuid TEXT NOT NULL,
            receivedAt BIGINT NOT NULL,
            reason TEXT,
            PRIMARY KEY (caseId, signedAt, notificationUuid)
        );

        CREATE TABLE refundDecisionCount (
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            outcome TEXT NOT NULL,
            -- Of the answer that Apple had accepted; empty where there was none, or it told none.
            refundPreference TEXT NOT NULL,
            count BIGINT NOT NULL,
            PRIMARY KEY (app, environment, outcome, refundPreference)
        );

        CREATE TABLE event (
            position BIGINT PRIMARY KEY DEFAULT nextPosition('event'),
            app TEXT NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            at BIGINT NOT NULL,
            environment TEXT,
            transactionId TEXT,
            "user" BYTEA,
            caseId TEXT,
            detail TEXT,
            notificationType TEXT,
            subtype TEXT
        );
        CREATE INDEX eventByApp ON event (app);
        CREATE INDEX eventByUser ON event (app, "user") WHERE "user" IS NOT NULL;

        CREATE TABLE eventEpoch (
            id BIGINT PRIMARY KEY CHECK (id = 1),
            epoch TEXT NOT NULL,
            -- Cursors without an epoch, which earlier releases gave out, are good up to here.
            latestWithoutEpoch BIGINT NOT NULL
        );

        CREATE TABLE historyProgress (
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            completeUntil BIGINT,
            -- The search that is under way; all NULL when none is.
            pass TEXT,
            windowStart BIGINT,
            windowEnd BIGINT,
            paginationToken TEXT, unkeptSince BIGINT,
            PRIMARY KEY (app, environment)
        );
        """

    /// The column of migration 0012, which is SQLite's 0027.
    static let bundleIDsInQuarantine = """
        -- Whether it names the bundle id of a configured app, unverified; strangers' are removed first. What came earlier counts
        -- as a stranger's until it is verified anew, at the start.
        ALTER TABLE quarantine ADD COLUMN namesOurs BIGINT NOT NULL DEFAULT 0;
        CREATE INDEX quarantineByOwner ON quarantine (isFromHistory, namesOurs, app, position);
        """

    /// Tells every copy of the daemon of each commit that kept events.
    static let tellingOfEvents = """
        CREATE FUNCTION tellOfEvents() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_notify('purser_events', '');
            RETURN NULL;
        END $$;
        CREATE TRIGGER eventComes AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION tellOfEvents();
        """
}
