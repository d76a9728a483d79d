extension Schema {
    /// The tables of migration 0010: what apps sent, whom it was sent for, and which receipts Apple is still to be asked about.
    static let receipts = """
        CREATE TABLE receipt (
            -- Never reused, so that pages go on where they ended.
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            app TEXT NOT NULL,
            -- SHA-256 of the bytes: the same bytes are the same receipt.
            digest BLOB NOT NULL,
            createdAt INTEGER NOT NULL,
            updatedAt INTEGER NOT NULL,
            state TEXT NOT NULL,
            fraudReason TEXT,
            -- With commas in between.
            flags TEXT NOT NULL,
            deviceCheck TEXT NOT NULL,
            environment TEXT,
            user BLOB,
            countryCode TEXT,
            identifierForVendor TEXT,
            ipAddress TEXT,
            -- As it was sent.
            metadata BLOB,
            appTransactionId TEXT,
            checkedAt INTEGER,
            unknownSince INTEGER,
            attempts INTEGER NOT NULL,
            -- When Apple is asked; NULL when there is nothing to ask.
            nextAttemptAt INTEGER,
            UNIQUE (app, digest)
        ) STRICT;
        CREATE INDEX receiptByApp ON receipt (app, position);
        CREATE INDEX receiptByUser ON receipt (app, user, position) WHERE user IS NOT NULL;
        CREATE INDEX receiptFraud ON receipt (app, position) WHERE state = 'fraud';
        CREATE INDEX receiptByCreation ON receipt (app, createdAt);
        CREATE INDEX receiptByUpdate ON receipt (updatedAt) WHERE nextAttemptAt IS NULL;
        CREATE INDEX receiptDue ON receipt (app, environment, nextAttemptAt) WHERE nextAttemptAt IS NOT NULL;

        -- Apart, so that lists and the queue read short rows.
        CREATE TABLE receiptContent (
            position INTEGER PRIMARY KEY REFERENCES receipt (position) ON DELETE CASCADE,
            -- What the receipt says, and what Apple says of its purchases: JSON.
            content BLOB NOT NULL,
            apple BLOB NOT NULL,
            -- The receipt itself, where the configuration has it kept.
            raw BLOB
        ) STRICT;

        -- Which users have sent a purchase: by the Apple Account and the newest original transactions of each confirmed receipt.
        CREATE TABLE receiptUser (
            app TEXT NOT NULL,
            identifier TEXT NOT NULL,
            -- The same for all spellings of one user.
            user BLOB NOT NULL,
            position INTEGER NOT NULL REFERENCES receipt (position) ON DELETE CASCADE,
            PRIMARY KEY (app, identifier, user)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX receiptUserByUser ON receiptUser (app, user);
        CREATE INDEX receiptUserByReceipt ON receiptUser (position);
        """
}
