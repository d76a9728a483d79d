extension Schema {
    /// The table of migration 0021: what services report of the use of purchases.
    static let usage = """
        CREATE TABLE usage (
            -- Never reused, so that pages go on where they ended.
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            -- The purchase; NULL where a user's product tells it.
            transactionId TEXT,
            -- The same for all spellings of one user.
            user BLOB,
            productId TEXT,
            -- Empty where the caller did not say: two NULLs would not be the same to a unique index.
            environment TEXT NOT NULL,
            at INTEGER NOT NULL,
            recordedAt INTEGER NOT NULL,
            recordedBy TEXT NOT NULL,
            -- NULL whatever is not known.
            deliveryStatus TEXT,
            consumptionPercentage INTEGER,
            sampleContentProvided INTEGER,
            accountCreatedAt INTEGER,
            playTimeMinutes INTEGER,
            lifetimeCentsPurchased INTEGER,
            lifetimeCentsRefunded INTEGER,
            platform INTEGER,
            userStatus INTEGER,
            CHECK (transactionId IS NOT NULL OR (user IS NOT NULL AND productId IS NOT NULL))
        ) STRICT;
        CREATE UNIQUE INDEX usageByTransaction ON usage (app, transactionId, environment)
            WHERE transactionId IS NOT NULL;
        CREATE UNIQUE INDEX usageByProduct ON usage (app, user, productId, environment) WHERE transactionId IS NULL;
        CREATE INDEX usageByUser ON usage (app, user) WHERE user IS NOT NULL;
        CREATE INDEX usageByTime ON usage (recordedAt);
        """

    /// The indexes of migration 0025: what the Sandbox leaves behind, by the time from which on it is kept.
    static let retentionOfSandbox = """
        CREATE INDEX notificationOfSandbox ON notification (receivedAt) WHERE environment = 'Sandbox';
        CREATE INDEX deliveryOfSandbox ON delivery (endedAt) WHERE environment = 'Sandbox' AND endedAt IS NOT NULL;
        CREATE INDEX refundCaseOfSandbox ON refundCase (closedAt) WHERE environment = 'Sandbox' AND closedAt IS NOT NULL;
        CREATE INDEX receiptOfSandbox ON receipt (updatedAt) WHERE environment = 'Sandbox';
        CREATE INDEX usageOfSandbox ON usage (recordedAt) WHERE environment = 'Sandbox';
        """
}
