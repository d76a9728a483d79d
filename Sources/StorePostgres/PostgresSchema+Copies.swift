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

    /// The column that says which master keys an instance holds: ids with commas in between.
    static let masterKeysOfInstances = """
        ALTER TABLE copy ADD COLUMN masterKeyIds TEXT NOT NULL DEFAULT '';
        """

    /// The index of migration 0003: of one transaction at most one delivery is being sent, whoever claims.
    static let oneClaimOfTransaction = """
        DROP INDEX deliverySending;
        CREATE UNIQUE INDEX deliverySending ON delivery (app, transactionId, state) WHERE state = 'sending';

        """

    /// The triggers of migration 0003: what copies tell each other (`PostgresNews`), in the transaction that does it.
    static let tellingOfWork = """
        CREATE FUNCTION tellOfWork(news TEXT) RETURNS void LANGUAGE sql AS $$
            SELECT pg_notify('purser_work', news)
        $$;

        CREATE FUNCTION tellOfDelivery() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.state = 'queued' THEN
                PERFORM tellOfWork('queued');
            ELSIF NEW.state <> 'sending' THEN
                PERFORM tellOfWork('ended ' || NEW.id);
            ELSIF NEW.cancellation IS NOT NULL THEN
                PERFORM tellOfWork('end ' || NEW.id);
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER deliveryComes AFTER INSERT ON delivery
            FOR EACH ROW WHEN (NEW.isReady = 1) EXECUTE FUNCTION tellOfDelivery();
        CREATE TRIGGER deliveryIsClaimedOrEnds AFTER UPDATE OF state, cancellation ON delivery
            FOR EACH ROW WHEN ((OLD.state, OLD.cancellation) IS DISTINCT FROM (NEW.state, NEW.cancellation))
            EXECUTE FUNCTION tellOfDelivery();

        CREATE FUNCTION tellOfNotification() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM tellOfWork('notification');
            RETURN NULL;
        END $$;
        CREATE TRIGGER notificationComes AFTER INSERT ON notification
            FOR EACH STATEMENT EXECUTE FUNCTION tellOfNotification();

        CREATE FUNCTION tellOfCallback() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM tellOfWork('callback ' || coalesce(NEW.id, OLD.id));
            RETURN NULL;
        END $$;
        CREATE TRIGGER callbackComesOrGoes AFTER INSERT OR DELETE ON callback
            FOR EACH ROW EXECUTE FUNCTION tellOfCallback();
        CREATE TRIGGER callbackChanges AFTER UPDATE OF revision ON callback
            FOR EACH ROW WHEN (OLD.revision IS DISTINCT FROM NEW.revision) EXECUTE FUNCTION tellOfCallback();

        CREATE FUNCTION tellOfHold() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM tellOfWork('hold');
            RETURN NULL;
        END $$;
        CREATE TRIGGER holdChanges AFTER INSERT OR UPDATE OR DELETE ON sendingHold
            FOR EACH STATEMENT EXECUTE FUNCTION tellOfHold();
        """
}
