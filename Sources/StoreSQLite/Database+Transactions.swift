import GRDB

// GRDB prepares the statements of its own transactions anew each time, which costs as much as a small query.

extension Database {
    /// Runs work in a transaction of its own, as `inTransaction(.immediate)`, but with statements that are prepared once.
    func inCachedTransaction(_ work: () throws -> Void) throws {
        try cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
        do {
            try work()
            try cachedStatement(sql: "COMMIT TRANSACTION").execute()
        } catch {
            // SQLite takes the whole transaction back by itself when the disk is full or fails.
            if isInsideTransaction { try cachedStatement(sql: "ROLLBACK TRANSACTION").execute() }
            throw error
        }
    }

    /// Runs work that is undone by itself when it fails, with statements that are prepared once.
    func inCachedSavepoint(_ work: () throws -> Void) throws {
        try cachedStatement(sql: "SAVEPOINT work").execute()
        do {
            try work()
        } catch {
            if isInsideTransaction {
                try cachedStatement(sql: "ROLLBACK TRANSACTION TO SAVEPOINT work").execute()
                try cachedStatement(sql: "RELEASE SAVEPOINT work").execute()
            }
            throw error
        }
        try cachedStatement(sql: "RELEASE SAVEPOINT work").execute()
    }

    /// Runs reads that see one state of the database, as `DatabasePool.read`, but with statements that are prepared once.
    func inCachedSnapshot<Value>(_ work: (Database) throws -> Value) throws -> Value {
        try cachedStatement(sql: "BEGIN DEFERRED TRANSACTION").execute()
        defer {
            // The connection must leave the transaction; a task that was cancelled cannot commit.
            do {
                try cachedStatement(sql: "COMMIT TRANSACTION").execute()
            } catch {
                try? rollback()
            }
        }
        return try work(self)
    }
}
