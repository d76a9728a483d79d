extension Schema {
    /// The tables of migration 0005.
    static let notificationsCasesAndEvents = """
        -- Apple's notifications, without what is long.
        CREATE TABLE notification (
            -- The order in which they were recorded.
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            uuid TEXT NOT NULL,
            type TEXT NOT NULL,
            subtype TEXT,
            signedDate INTEGER,
            environment TEXT NOT NULL,
            source TEXT NOT NULL,
            receivedAt INTEGER NOT NULL,
            user BLOB,
            processedAt INTEGER,
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
            purchaseDate INTEGER,
            transactionSignedDate INTEGER,
            revocationDate INTEGER,
            isFamilyShared INTEGER,
            isAdvancedCommerce INTEGER,
            UNIQUE (app, uuid)
        ) STRICT;
        -- An index without a column of order is in the order of positions.
        CREATE INDEX notificationByApp ON notification (app);
        CREATE INDEX notificationByType ON notification (app, type);
        CREATE INDEX notificationByTransaction ON notification (app, transactionId)
            WHERE transactionId IS NOT NULL;
        CREATE INDEX notificationByOriginal ON notification (app, originalTransactionId)
            WHERE originalTransactionId IS NOT NULL;
        CREATE INDEX notificationByUser ON notification (app, user) WHERE user IS NOT NULL;
        CREATE INDEX notificationByTime ON notification (receivedAt);
        CREATE INDEX notificationUnprocessed ON notification (processedAt) WHERE processedAt IS NULL;

        -- Decoded payloads and signed forms: written once, so that marking a notification as processed does not write them anew.
        CREATE TABLE notificationContent (
            position INTEGER PRIMARY KEY REFERENCES notification (position) ON DELETE CASCADE,
            payload BLOB NOT NULL,
            transactionPayload BLOB,
            renewalPayload BLOB,
            appTransactionPayload BLOB,
            signed TEXT NOT NULL,
            transactionSigned TEXT,
            renewalSigned TEXT,
            appTransactionSigned TEXT
        ) STRICT;

        -- What Apple signed, but not for the app or environment that the configuration names. Rows leave only at the low
        -- end, so that the positions tell how many there are.
        CREATE TABLE quarantine (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            uuid TEXT,
            fault TEXT NOT NULL,
            receivedAt INTEGER NOT NULL,
            signed TEXT NOT NULL
        ) STRICT;

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
            purchaseDate INTEGER NOT NULL,
            isFamilyShared INTEGER NOT NULL,
            isAdvancedCommerce INTEGER NOT NULL,
            owner BLOB,
            state TEXT NOT NULL,
            reason TEXT,
            requestedAt INTEGER NOT NULL,
            openedAt INTEGER NOT NULL,
            deadline INTEGER NOT NULL,
            declineCaller TEXT,
            -- Any bytes of UTF-8, as a user's id.
            declineNote BLOB,
            declineAt INTEGER,
            outcome TEXT,
            decidedAt INTEGER,
            -- When the state last changed to what it is, unless it is open.
            closedAt INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refundCaseByDeadline ON refundCase (app, deadline, id);
        CREATE INDEX refundCaseByState ON refundCase (app, state, deadline, id);
        CREATE INDEX refundCaseByOwner ON refundCase (app, owner, deadline, id) WHERE owner IS NOT NULL;
        CREATE INDEX refundCaseByTransaction ON refundCase (app, transactionId, deadline, id);
        CREATE INDEX refundCaseClosed ON refundCase (closedAt) WHERE closedAt IS NOT NULL;
        -- Few cases are open at a time, whatever has gathered.
        CREATE INDEX openCaseByDeadline ON refundCase (deadline) WHERE state = 'open';
        CREATE INDEX openCaseByApp ON refundCase (app, environment, deadline) WHERE state = 'open';
        CREATE INDEX openCaseByTransaction ON refundCase (app, transactionId) WHERE state = 'open';
        CREATE INDEX openCaseByOriginal ON refundCase (app, originalTransactionId) WHERE state = 'open';
        CREATE INDEX openCaseByAppTransaction ON refundCase (app, appTransactionId) WHERE state = 'open';
        CREATE INDEX openCaseByToken ON refundCase (app, appAccountToken) WHERE state = 'open';

        -- Apple's requests of a case, the reminders included.
        CREATE TABLE caseRequest (
            caseId TEXT NOT NULL REFERENCES refundCase (id) ON DELETE CASCADE,
            signedAt INTEGER NOT NULL,
            notificationUuid TEXT NOT NULL,
            receivedAt INTEGER NOT NULL,
            reason TEXT,
            PRIMARY KEY (caseId, signedAt, notificationUuid)
        ) STRICT, WITHOUT ROWID;

        -- What happened. One writer commits at a time, so that positions are in the order of commits.
        CREATE TABLE event (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            at INTEGER NOT NULL,
            environment TEXT,
            transactionId TEXT,
            user BLOB,
            caseId TEXT,
            detail TEXT,
            notificationType TEXT,
            subtype TEXT
        ) STRICT;
        CREATE INDEX eventByApp ON event (app);
        CREATE INDEX eventByUser ON event (app, user) WHERE user IS NOT NULL;
        CREATE INDEX eventByTime ON event (at);

        -- Which identifiers an Apple Account has, latest last.
        CREATE INDEX knownIdentifierByAccount ON knownIdentifier (app, appTransactionId, environment)
            WHERE appTransactionId IS NOT NULL;

        -- How far the search for missed notifications has got.
        CREATE TABLE historyProgress (
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            completeUntil INTEGER,
            -- The search that is under way; all NULL when none is.
            pass TEXT,
            windowStart INTEGER,
            windowEnd INTEGER,
            paginationToken TEXT,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        """

    /// The index of migration 0018.
    static let unprocessedNotificationsByApp = """
        -- What is to be applied of each app, in the order of positions, so that the apps can take turns.
        DROP INDEX notificationUnprocessed;
        CREATE INDEX notificationUnprocessed ON notification (app) WHERE processedAt IS NULL;
        """
}
