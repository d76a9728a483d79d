import GRDB

extension Schema {
    /// Callers that operators add while the daemon runs; what the configuration names is not here.
    static let callers = """
        CREATE TABLE caller (
            name TEXT NOT NULL PRIMARY KEY,
            createdAt INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- What a caller may do.
        CREATE TABLE callerGrant (
            caller TEXT NOT NULL REFERENCES caller (name) ON DELETE CASCADE,
            app TEXT NOT NULL,
            scope TEXT NOT NULL,
            PRIMARY KEY (caller, app, scope)
        ) STRICT, WITHOUT ROWID;

        -- Bearer tokens, by what they begin with; the token itself is kept nowhere.
        CREATE TABLE callerToken (
            tokenId TEXT NOT NULL PRIMARY KEY,
            caller TEXT NOT NULL REFERENCES caller (name) ON DELETE CASCADE,
            -- SHA-256 of the token.
            digest BLOB NOT NULL UNIQUE,
            createdAt INTEGER NOT NULL,
            -- NULL for never.
            expiresAt INTEGER,
            revokedAt INTEGER,
            -- The caller's tokens in the order in which they were made.
            position INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX callerTokenByCaller ON callerToken (caller, position);

        -- What of a connection stands for a caller: `certificate` (a URI), `uid` or `gid`.
        CREATE TABLE callerBinding (
            kind TEXT NOT NULL,
            value TEXT NOT NULL,
            caller TEXT NOT NULL REFERENCES caller (name) ON DELETE CASCADE,
            PRIMARY KEY (kind, value)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX callerBindingByCaller ON callerBinding (caller);

        -- When callers, those of the configuration too, last used what proves them.
        CREATE TABLE callerUse (
            caller TEXT NOT NULL,
            -- Such as `token:Ab12Cd34`.
            credential TEXT NOT NULL,
            lastUsedAt INTEGER NOT NULL,
            PRIMARY KEY (caller, credential)
        ) STRICT, WITHOUT ROWID;

        -- One row: counts the changes of all these but of `callerUse`, and of `callerKey`.
        CREATE TABLE callerGeneration (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            generation INTEGER NOT NULL
        ) STRICT;
        INSERT INTO callerGeneration (id, generation) VALUES (1, 0);

        CREATE INDEX callerKeyByCaller ON callerKey (caller);
        """

    /// Makes callers of those that existed by their keys alone: each may do what its keys allow that are not revoked.
    ///
    /// A name that the configuration has as well is the configuration's; its row stands for nobody.
    static func addCallersOfKeys(_ database: Database) throws {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT caller, app, scopes, createdAt, revokedAt FROM callerKey WHERE scopes IS NOT NULL ORDER BY id")
        for row in rows {
            let caller: String = row["caller"]
            let createdAt: Int64 = row["createdAt"]
            try database.execute(
                sql: "INSERT OR IGNORE INTO caller (name, createdAt) VALUES (?, ?)", arguments: [caller, createdAt])
            guard row["revokedAt"] as Int64? == nil else { continue }
            let (app, scopes): (String, String) = (row["app"], row["scopes"])
            for scope in scopes.split(separator: ",") {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO callerGrant (caller, app, scope) VALUES (?, ?, ?)",
                    arguments: [caller, app, String(scope)])
            }
        }
    }
}
