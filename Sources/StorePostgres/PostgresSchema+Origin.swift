extension PostgresSchema {
    /// The tables of migration 0010: by which a database is known that was put back, and by which a copy of the daemon knows
    /// what it has committed.
    ///
    /// SQLite has none of them.
    static let origin = """
        -- One row: where the database was when it was last written. Another cluster, another database or another time line
        -- means that it was put back, or that its server was promoted.
        CREATE TABLE storeOrigin (
            id BIGINT PRIMARY KEY CHECK (id = 1),
            origin TEXT NOT NULL
        );

        -- One row for each process that writes: how many transactions of its own are committed.
        CREATE TABLE writer (
            id TEXT PRIMARY KEY,
            turns BIGINT NOT NULL,
            seenAt BIGINT NOT NULL
        ) WITH (fillfactor = 10);
        """

    /// The function of migration 0010.
    static let presentOrigin = """
        -- Where the database is: its cluster, itself, and the cluster's time line.
        CREATE FUNCTION presentOrigin() RETURNS TEXT LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            database TEXT := (SELECT oid FROM pg_database WHERE datname = current_database());
        BEGIN
            RETURN (SELECT system_identifier FROM pg_control_system()) || '/' || database || '/'
                || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
        -- Where somebody has taken the right to ask away.
        EXCEPTION WHEN insufficient_privilege THEN
            RETURN '/' || database || '/';
        END $$;
        """
}
