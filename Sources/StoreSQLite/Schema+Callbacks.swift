extension Schema {
    /// The tables of the callbacks.
    static let callbacks = """
        -- Who is told what happens, and how far each is in the log of events.
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
            createdAt INTEGER NOT NULL,
            createdBy TEXT NOT NULL,
            updatedAt INTEGER NOT NULL,
            -- Everything up to here was sent, or stands in callbackEntry.
            position INTEGER NOT NULL,
            hasMissedEvents INTEGER NOT NULL DEFAULT 0,
            secretNumber INTEGER NOT NULL,
            previousSecretUntil INTEGER,
            revision INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX callbackByApp ON callback (app, id);

        -- Events that wait to be sent again, or behind one that does.
        CREATE TABLE callbackEntry (
            callbackId TEXT NOT NULL REFERENCES callback (id) ON DELETE CASCADE,
            -- The event's; it may be kept no more.
            position INTEGER NOT NULL,
            lane TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            firstFailedAt INTEGER,
            nextAttemptAt INTEGER,
            PRIMARY KEY (callbackId, position)
        ) STRICT, WITHOUT ROWID;

        -- The latest attempts of each.
        CREATE TABLE callbackAttempt (
            callbackId TEXT NOT NULL REFERENCES callback (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            eventId TEXT NOT NULL,
            type TEXT NOT NULL,
            startedAt INTEGER NOT NULL,
            microseconds INTEGER NOT NULL,
            status INTEGER,
            failure TEXT,
            PRIMARY KEY (callbackId, number)
        ) STRICT, WITHOUT ROWID;
        """
}
