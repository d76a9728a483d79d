extension PostgresSchema {
    /// The tables of links, receipts, usage and what Apple has answered.
    static let purchases = """
        CREATE TABLE link (
            id BIGINT PRIMARY KEY DEFAULT nextPosition('link'),
            app TEXT NOT NULL,
            "user" BYTEA NOT NULL,
            kind TEXT NOT NULL,
            value TEXT NOT NULL,
            environment TEXT,
            source TEXT NOT NULL,
            validFrom BIGINT,
            validUntil BIGINT,
            createdAt BIGINT NOT NULL,
            createdBy TEXT NOT NULL,
            -- The user's id as an appAccountToken is compared: without case.
            userFolded BYTEA NOT NULL
        );
        CREATE INDEX linkByTarget ON link (app, kind, value);
        CREATE INDEX linkByUser ON link (app, "user");
        CREATE INDEX linkByFoldedUser ON link (app, userFolded) WHERE validUntil IS NULL;

        -- Rows leave only at the low end of `id`, so that the ids tell how many there are: none may be left out.
        CREATE TABLE knownIdentifier (
            id BIGINT PRIMARY KEY DEFAULT nextKnownIdentifier(),
            app TEXT NOT NULL,
            identifier TEXT NOT NULL,
            environment TEXT NOT NULL,
            appTransactionId TEXT,
            UNIQUE (app, identifier, environment)
        );
        CREATE INDEX knownIdentifierByAccount ON knownIdentifier (app, appTransactionId, environment)
            WHERE appTransactionId IS NOT NULL;

        CREATE TABLE signedToken (
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            transactionId TEXT NOT NULL,
            appAccountToken TEXT,
            signedAt BIGINT NOT NULL,
            PRIMARY KEY (app, environment, transactionId)
        );
        CREATE INDEX signedTokenByToken ON signedToken (app, appAccountToken) WHERE appAccountToken IS NOT NULL;

        CREATE TABLE acceptedToken (
            position BIGINT PRIMARY KEY DEFAULT nextPosition('acceptedToken'),
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            originalTransactionId TEXT NOT NULL,
            appAccountToken TEXT NOT NULL,
            at BIGINT NOT NULL
        );
        CREATE INDEX acceptedTokenByOriginal ON acceptedToken (app, originalTransactionId);
        CREATE INDEX acceptedTokenByToken ON acceptedToken (app, appAccountToken);

        CREATE TABLE appSetting (
            app TEXT PRIMARY KEY,
            userIDs TEXT NOT NULL,
            -- A JSON array.
            ignoredTokens TEXT NOT NULL,
            guardianBlocksConsumption BIGINT NOT NULL,
            minimumWordingVersion TEXT,
            -- Up to which case owners have been judged by these settings; NULL when all have.
            ownersJudgedUpTo TEXT
        );

        CREATE TABLE receipt (
            -- Never reused, so that pages go on where they ended.
            position BIGINT PRIMARY KEY DEFAULT nextPosition('receipt'),
            id TEXT NOT NULL UNIQUE,
            app TEXT NOT NULL,
            -- SHA-256 of the bytes: the same bytes are the same receipt.
            digest BYTEA NOT NULL,
            createdAt BIGINT NOT NULL,
            updatedAt BIGINT NOT NULL,
            state TEXT NOT NULL,
            fraudReason TEXT,
            -- With commas in between.
            flags TEXT NOT NULL,
            deviceCheck TEXT NOT NULL,
            environment TEXT,
            "user" BYTEA,
            countryCode TEXT,
            identifierForVendor TEXT,
            ipAddress TEXT,
            -- As it was sent.
            metadata BYTEA,
            appTransactionId TEXT,
            checkedAt BIGINT,
            unknownSince BIGINT,
            attempts BIGINT NOT NULL,
            -- When Apple is asked; NULL when there is nothing to ask.
            nextAttemptAt BIGINT,
            UNIQUE (app, digest)
        );
        CREATE INDEX receiptByApp ON receipt (app, position);
        CREATE INDEX receiptByUser ON receipt (app, "user", position) WHERE "user" IS NOT NULL;
        CREATE INDEX receiptFraud ON receipt (app, position) WHERE state = 'fraud';
        CREATE INDEX receiptByCreation ON receipt (app, createdAt);
        CREATE INDEX receiptByUpdate ON receipt (updatedAt) WHERE nextAttemptAt IS NULL;
        CREATE INDEX receiptDue ON receipt (app, environment, nextAttemptAt) WHERE nextAttemptAt IS NOT NULL;
        CREATE INDEX receiptOfSandbox ON receipt (updatedAt) WHERE environment = 'Sandbox';

        CREATE TABLE receiptContent (
            position BIGINT PRIMARY KEY REFERENCES receipt (position) ON DELETE CASCADE,
            -- What the receipt says, and what Apple says of its purchases: JSON.
            content BYTEA NOT NULL,
            apple BYTEA NOT NULL,
            -- The receipt itself, where the configuration has it kept.
            raw BYTEA
        );

        CREATE TABLE receiptUser (
            app TEXT NOT NULL,
            identifier TEXT NOT NULL,
            -- The same for all spellings of one user.
            "user" BYTEA NOT NULL,
            position BIGINT NOT NULL REFERENCES receipt (position) ON DELETE CASCADE,
            PRIMARY KEY (app, identifier, "user")
        );
        CREATE INDEX receiptUserByUser ON receiptUser (app, "user");
        CREATE INDEX receiptUserByReceipt ON receiptUser (position);

        CREATE TABLE usage (
            -- Never reused, so that pages go on where they ended.
            position BIGINT PRIMARY KEY,
            app TEXT NOT NULL,
            -- The purchase; NULL where a user's product tells it.
            transactionId TEXT,
            -- The same for all spellings of one user.
            "user" BYTEA,
            productId TEXT,
            -- Empty where the caller did not say: two NULLs would not be the same to a unique index.
            environment TEXT NOT NULL,
            at BIGINT NOT NULL,
            recordedAt BIGINT NOT NULL,
            recordedBy TEXT NOT NULL,
            -- NULL whatever is not known.
            deliveryStatus TEXT,
            consumptionPercentage BIGINT,
            sampleContentProvided BIGINT,
            accountCreatedAt BIGINT,
            playTimeMinutes BIGINT,
            lifetimeCentsPurchased BIGINT,
            lifetimeCentsRefunded BIGINT,
            platform BIGINT,
            userStatus BIGINT,
            CHECK (transactionId IS NOT NULL OR ("user" IS NOT NULL AND productId IS NOT NULL))
        );
        CREATE UNIQUE INDEX usageByTransaction ON usage (app, transactionId, environment)
            WHERE transactionId IS NOT NULL;
        CREATE UNIQUE INDEX usageByProduct ON usage (app, "user", productId, environment) WHERE transactionId IS NULL;
        CREATE INDEX usageByUser ON usage (app, "user") WHERE "user" IS NOT NULL;
        CREATE INDEX usageByTime ON usage (recordedAt);
        CREATE INDEX usageOfSandbox ON usage (recordedAt) WHERE environment = 'Sandbox';

        CREATE TABLE appleAnswer (
            position BIGINT PRIMARY KEY DEFAULT nextPosition('appleAnswer'),
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            transactionId TEXT NOT NULL,
            originalTransactionId TEXT NOT NULL,
            webOrderLineItemId TEXT,
            appTransactionId TEXT,
            appAccountToken TEXT,
            productId TEXT,
            productType TEXT,
            purchaseDate BIGINT NOT NULL,
            expiresDate BIGINT,
            signedDate BIGINT NOT NULL,
            revocationDate BIGINT,
            isFamilyShared BIGINT NOT NULL,
            isAdvancedCommerce BIGINT NOT NULL,
            price BIGINT,
            currency TEXT,
            storefront TEXT,
            revocationPercentage BIGINT,
            payload BYTEA NOT NULL,
            signed TEXT NOT NULL,
            -- Of the subscription; NULL as long as Apple was asked about the transaction alone.
            status BIGINT,
            subscriptionGroup TEXT,
            statusSignedDate BIGINT,
            renewalPayload BYTEA,
            renewalSigned TEXT,
            -- From when on it is kept.
            keptAt BIGINT NOT NULL,
            UNIQUE (app, transactionId, environment)
        );
        CREATE INDEX appleAnswerByOriginal ON appleAnswer (app, originalTransactionId);
        CREATE INDEX appleAnswerByAccount ON appleAnswer (app, appTransactionId) WHERE appTransactionId IS NOT NULL;
        CREATE INDEX appleAnswerByToken ON appleAnswer (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX appleAnswerByTime ON appleAnswer (keptAt);
        CREATE INDEX appleAnswerOfSandbox ON appleAnswer (keptAt) WHERE environment = 'Sandbox';
        """

    /// A report that stands in no other's place comes without a position.
    static let positionsOfUsage = """
        CREATE FUNCTION placeUsage() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.position := coalesce(NEW.position, nextPosition('usage'));
            RETURN NEW;
        END $$;
        CREATE TRIGGER usageComes BEFORE INSERT ON usage FOR EACH ROW EXECUTE FUNCTION placeUsage();
        """
}
