import Domain
import Postgres
import StoreSQL

/// The tables on PostgreSQL, as migrations that only go forward.
///
/// They hold what SQLite's do, column for column, so that one rule reads both. Times are UNIX milliseconds, truth values 1 and
/// 0, users' ids bytes. Text compares byte by byte, whatever the database's own order is.
enum PostgresSchema {
    /// Keeps two copies of the daemon from migrating at the same time: "Purs", and a number of ours.
    private static let lock = "1349874291, 1"

    /// Tables that have rows from the first migration on.
    static let seeded = ["probe", "callerGeneration", "eventEpoch"]

    /// Each with its name, which is never reused.
    static let migrations: [(name: String, sql: String)] = [
        (
            "0001 as of SQLite's 0026",
            functions
                + [access, purchases, deliveries, notifications, callbacks].map(inBytes).joined(separator: "\n")
                + countsOfDeliveries + tellingOfEvents + positionsOfUsage
        ),
        ("0002 copies and leases", inBytes(copies)),
        ("0003 news between copies", oneClaimOfTransaction + tellingOfWork),
        ("0010 origin", inBytes(origin) + presentOrigin),
        ("0011 slices of budgets", inBytes(budgetSlices)),
        ("0012 bundle ids in quarantine", bundleIDsInQuarantine),
        ("0013 master keys of instances", inBytes(masterKeysOfInstances)),
    ]

    /// Tables whose texts compare byte by byte.
    private static func inBytes(_ tables: String) -> String { tables.replacing(" TEXT", with: " TEXT COLLATE \"C\"") }

    /// What the tables and the statements of the rules ask for that SQLite has by itself.
    static let functions = """
        -- The highest number that a table's rows ever had. Unlike a sequence's it is taken back with its transaction, and two
        -- transactions get theirs in the order in which they are committed, so that whoever reads on behind the last one
        -- misses nothing.
        CREATE TABLE lastPosition (
            ofTable TEXT PRIMARY KEY,
            position BIGINT NOT NULL
        ) WITH (fillfactor = 10);

        CREATE FUNCTION nextPosition(of TEXT) RETURNS BIGINT LANGUAGE sql AS $$
            INSERT INTO lastPosition AS last (ofTable, position) VALUES (of, 1)
            ON CONFLICT (ofTable) DO UPDATE SET position = last.position + 1 RETURNING position
        $$;

        CREATE FUNCTION nextKnownIdentifier() RETURNS BIGINT LANGUAGE plpgsql AS $$
        BEGIN
            RETURN coalesce((SELECT max(id) FROM knownIdentifier), 0) + 1;
        END $$;

        CREATE FUNCTION json_valid(text TEXT) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE AS $$
        BEGIN
            RETURN text::json IS NOT NULL;
        EXCEPTION WHEN OTHERS THEN
            RETURN FALSE;
        END $$;

        -- `path` is such as $.data.status.
        CREATE FUNCTION json_extract(text TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
            SELECT text::jsonb #>> string_to_array(substr(path, 3), '.')
        $$;

        CREATE FUNCTION json_remove(text TEXT, VARIADIC paths TEXT[]) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
        DECLARE
            result JSONB := text::jsonb;
            path TEXT;
        BEGIN
            FOREACH path IN ARRAY paths LOOP
                result := result #- string_to_array(substr(path, 3), '.');
            END LOOP;
            RETURN result::text;
        END $$;
        """

    /// Brings a database to this version's tables.
    ///
    /// - Throws: `storeUnavailable` when a newer version has migrated it; `PostgresError`.
    static func migrate(_ connection: PostgresConnection) throws {
        // An index of a large table takes its time, and so does another copy that makes one.
        try connection.run(
            script: "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(\(lock))")
        do {
            try connection.run(
                script: """
                    CREATE TABLE IF NOT EXISTS migration (
                        name TEXT PRIMARY KEY, appliedAt TIMESTAMPTZ NOT NULL DEFAULT now())
                    """)
            let applied = try connection.execute("SELECT name FROM migration ORDER BY name")
            let known = Set((0..<applied.rowCount).compactMap { applied.text($0, 0) })
            let unknown = known.subtracting(migrations.map(\.name)).sorted()
            guard unknown.isEmpty else {
                let names = unknown.map { "`\($0)`" }.joined(separator: ", ")
                throw ServiceError(
                    .storeUnavailable,
                    "The database was written by a newer version of Purser, with migrations that this one does not know: \(names); run that version.",
                    cause: "unknown migrations: \(names)")
            }
            for migration in migrations where !known.contains(migration.name) {
                try connection.run(script: migration.sql)
                if migration.name == migrations[0].name { try begin(connection) }
                try connection.execute("INSERT INTO migration (name) VALUES ($1)", [.text(migration.name)])
            }
            try connection.run(script: "COMMIT")
        } catch {
            if connection.isUsable { try connection.run(script: "ROLLBACK") }
            throw error
        }
    }

    /// The rows that every store has.
    private static func begin(_ connection: PostgresConnection) throws {
        try connection.run(
            script: """
                INSERT INTO probe (id, count) VALUES (1, 0);
                INSERT INTO callerGeneration (id, generation) VALUES (1, 0);
                """)
        try connection.execute(
            "INSERT INTO eventEpoch (id, epoch, latestWithoutEpoch) VALUES (1, $1, 0)", [.text(EventEpochRow.make())])
    }
}
