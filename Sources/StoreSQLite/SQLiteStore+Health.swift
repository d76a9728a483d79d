import GRDB

extension SQLiteStore {
    /// Whether a write succeeds now; the caller bounds the wait.
    package func isUsable() async -> Bool {
        do {
            try await write("probe") { database in
                try database.execute(sql: "UPDATE probe SET count = count + 1 WHERE id = 1")
            }
            return true
        } catch {
            return false
        }
    }

    /// Returns once the store's executor has just run, for the watchdog.
    ///
    /// An executor at work inside the database counts as well: there a slow or full disk may hold it up. Returns early when
    /// its task is cancelled.
    package func heartbeat() async {
        guard let nextRun = gauge.nextRun() else { return }
        // A write that stands before this one in the queue counts as well: it tells the gauge before it enters the database.
        pool.asyncWriteWithoutTransaction { [gauge] _ in gauge.ran() }
        for await _ in nextRun {}
    }
}
