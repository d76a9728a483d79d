extension PostgresSchema {
    /// The tables of migration 0002: what copies of the daemon on one database know of each other.
    ///
    /// SQLite has none of them.
    static let copies = """
        -- By which leases begin and end: the same clock to all copies, and one that goes on within a transaction.
        CREATE FUNCTION storeTime() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
            SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        $$;

        CREATE TABLE copy (
            -- Of one process, for as long as it runs.
            id TEXT PRIMARY KEY,
            startedAt BIGINT NOT NULL,
            seenAt BIGINT NOT NULL,
            -- Without another word it is taken for dead from here on.
            livesUntil BIGINT NOT NULL
        );

        -- What one copy at a time does or has.
        CREATE TABLE lease (
            name TEXT PRIMARY KEY,
            holder TEXT NOT NULL,
            heldUntil BIGINT NOT NULL
        );
        CREATE INDEX leaseByHolder ON lease (holder);
        """
}
