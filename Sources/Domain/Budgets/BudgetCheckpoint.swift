/// Saves what is used of the budgets, so that a restart does not forget it.
///
/// A crash forgets what was used since the last checkpoint. Nothing is added for that: Apple's own 429 would tell, and a
/// guess would refuse calls that Apple admits.
package actor BudgetCheckpoint {
    /// How many records one write takes, so that other writes need not wait long.
    private static let maximumBatch = 2000

    private let budgets: RateBudgets
    private let store: any BudgetStore
    /// Everything from this minute of the budgets' own time on is yet to be saved.
    private var unsaved = 0

    package init(budgets: RateBudgets, store: any BudgetStore) {
        self.budgets = budgets
        self.store = store
    }

    /// Counts what the last run has used; to be called once, before the first call.
    ///
    /// - Throws: `storeUnavailable`.
    package func restore() async throws(ServiceError) {
        let now = budgets.currentMinute
        // What the store has already need not be saved again, but for what is counted as made now.
        unsaved = budgets.clock.time.minute
        // Minute by minute, so that the records of a busy hour need not all be in memory at once.
        for minute in (now - CallCount.lifetime + 1)...now {
            budgets.restore(try await store.budgetRecords(of: minute...minute))
        }
        budgets.restore(try await store.budgetRecords(of: now + 1 ... .max))
        budgets.restore(try await store.budgetBlocks(after: budgets.clock.date(of: budgets.clock.time)))
        try await save()
    }

    /// Saves what was counted since the last time that this succeeded.
    ///
    /// - Throws: `storeUnavailable`; the next time saves what this one could not.
    package func save() async throws(ServiceError) {
        let now = budgets.currentMinute
        let (records, blocks, minute) = budgets.snapshot(since: unsaved)
        for start in stride(from: 0, to: records.count, by: Self.maximumBatch) {
            try await store.saveBudgetRecords(Array(records[start..<min(start + Self.maximumBatch, records.count)]))
        }
        let latest = records.reduce(now) { max($0, $1.minute) }
        try await store.keepBudgetRecords(of: (now - CallCount.lifetime + 1)...latest)
        try await store.replaceBudgetBlocks(blocks)
        unsaved = minute
    }
}
