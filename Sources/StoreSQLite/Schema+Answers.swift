extension Schema {
    /// The table of migration 0026.
    static let appleAnswers = """
        -- What Apple has answered about transactions, of each what it signed last.
        CREATE TABLE appleAnswer (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            transactionId TEXT NOT NULL,
            originalTransactionId TEXT NOT NULL,
            webOrderLineItemId TEXT,
            appTransactionId TEXT,
            appAccountToken TEXT,
            productId TEXT,
            productType TEXT,
            purchaseDate INTEGER NOT NULL,
            expiresDate INTEGER,
            signedDate INTEGER NOT NULL,
            revocationDate INTEGER,
            isFamilyShared INTEGER NOT NULL,
            isAdvancedCommerce INTEGER NOT NULL,
            price INTEGER,
            currency TEXT,
            storefront TEXT,
            revocationPercentage INTEGER,
            payload BLOB NOT NULL,
            signed TEXT NOT NULL,
            -- Of the subscription; NULL as long as Apple was asked about the transaction alone.
            status INTEGER,
            subscriptionGroup TEXT,
            statusSignedDate INTEGER,
            renewalPayload BLOB,
            renewalSigned TEXT,
            -- From when on it is kept.
            keptAt INTEGER NOT NULL,
            UNIQUE (app, transactionId, environment)
        ) STRICT;
        CREATE INDEX appleAnswerByOriginal ON appleAnswer (app, originalTransactionId);
        CREATE INDEX appleAnswerByAccount ON appleAnswer (app, appTransactionId) WHERE appTransactionId IS NOT NULL;
        CREATE INDEX appleAnswerByToken ON appleAnswer (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX appleAnswerByTime ON appleAnswer (keptAt);
        CREATE INDEX appleAnswerOfSandbox ON appleAnswer (keptAt) WHERE environment = 'Sandbox';
        """
}
