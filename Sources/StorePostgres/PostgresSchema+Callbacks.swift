extension PostgresSchema {
    /// The tables of callbacks.
    static let callbacks = """
        CREATE TABLE callback (
            id TEXT PRIMARY KEY,
            app TEXT NOT NULL,
            format TEXT NOT NULL,
            url TEXT NOT NULL,
            -- Each with line feeds in between; empty for all.
            types TEXT NOT NULL,
            products TEXT NOT NULL,
            environments TEXT NOT NULL,
            description TEXT NOT NULL,
            state TEXT NOT NULL,
            pauseReason TEXT,
            createdAt BIGINT NOT NULL,
            createdBy TEXT NOT NULL,
            updatedAt BIGINT NOT NULL,
            -- Everything up to here was sent, or stands in callbackEntry.
            position BIGINT NOT NULL,
            hasMissedEvents BIGINT NOT NULL DEFAULT 0,
            secretNumber BIGINT NOT NULL,
            previousSecretUntil BIGINT,
            revision BIGINT NOT NULL DEFAULT 0
        );
        CREATE INDEX callbackByApp ON callback (app, id);

        CREATE TABLE callbackEntry (
            callbackId TEXT NOT NULL REFERENCES callback (id) ON DELETE CASCADE,
            -- The event's; it may be kept no more.
            position BIGINT NOT NULL,
            lane TEXT NOT NULL,
            attempts BIGINT NOT NULL,
            firstFailedAt BIGINT,
            nextAttemptAt BIGINT,
            PRIMARY KEY (callbackId, position)
        );

        CREATE TABLE callbackAttempt (
            callbackId TEXT NOT NULL REFERENCES callback (id) ON DELETE CASCADE,
            number BIGINT NOT NULL,
            eventId TEXT NOT NULL,
            type TEXT NOT NULL,
            startedAt BIGINT NOT NULL,
            microseconds BIGINT NOT NULL,
            status BIGINT,
            failure TEXT,
            PRIMARY KEY (callbackId, number)
        );
        """
}
