package import Foundation
import Synchronization

/// Saves what is used of the budgets, so that a restart does not forget it.
///
/// A crash forgets what was used since the last checkpoint. Nothing is added for that: Apple's own 429 would tell, and a
/// guess would refuse calls that Apple admits.
package actor BudgetCheckpoint {
    /// How many records one write takes, so that other writes need not wait long.
    private static let maximumBatch = 2000

    private let budgets: RateBudgets
    private let store: any BudgetStore
    /// Where several copies share the budgets.
    private let sharedStore: (any SharedBudgetStore)?
    private let isCertain: @Sendable () -> Bool
    /// Everything from this minute of the budgets' own time on is yet to be saved.
    private var unsaved = 0
    /// Apple's wishes to wait that were taken up by a clock in doubt.
    private var doubted: [RestoredBlock] = []

    /// `isCertain`: whether the time of day can be relied upon.
    package init(
        budgets: RateBudgets, store: any BudgetStore, sharedStore: (any SharedBudgetStore)? = nil,
        isCertain: @escaping @Sendable () -> Bool = { true }
    ) {
        self.budgets = budgets
        self.store = store
        self.sharedStore = sharedStore
        self.isCertain = isCertain
    }

    /// How often ``save(isLast:)`` is due.
    package nonisolated var interval: Duration { budgets.slices == nil ? .seconds(60) : BudgetSlices.interval }

    /// Counts what the last run has used; to be called once, before the first call.
    ///
    /// - Throws: `storeUnavailable`.
    package func restore() async throws(ServiceError) {
        // What is shared is told with the first slice.
        guard budgets.slices == nil else { return }
        let now = budgets.currentMinute
        // What the store has already need not be saved again, but for what is counted as made now.
        unsaved = budgets.clock.time.minute
        // Minute by minute, so that the records of a busy hour need not all be in memory at once.
        for minute in (now - CallCount.lifetime + 1)...now {
            budgets.restore(try await store.budgetRecords(of: minute...minute))
        }
        budgets.restore(try await store.budgetRecords(of: now + 1 ... .max))
        // A block that seems to be over may not be, by the right time.
        let after = isCertain() ? budgets.clock.date(of: budgets.clock.time) : .distantPast
        doubted = budgets.restore(try await store.budgetBlocks(after: after))
        try await save()
    }

    /// Saves what was counted since the last time that this succeeded.
    ///
    /// `isLast`: whether nothing more will be called.
    ///
    /// - Throws: `storeUnavailable`; the next time saves what this one could not.
    package func save(isLast: Bool = false) async throws(ServiceError) {
        if let slices = budgets.slices {
            await slices.tick(budgets, isLast: isLast)
            let minute = budgets.clock.time.minute
            guard minute > unsaved else { return }
            _ = budgets.snapshot(since: .max)
            try await sharedStore?.forgetOldBudgets()
            unsaved = minute
            return
        }
        if !doubted.isEmpty, isCertain() {
            budgets.correct(doubted)
            doubted = []
        }
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

// MARK: What is saved and restored

extension RateBudgets {
    /// The present minute by the time of day, since 1970.
    var currentMinute: Int { clock.time.minute + clock.leadInMinutes }

    /// Forgets what is too old in every app.
    ///
    /// - Returns: what was counted since a minute, and the blocks that last; the present minute by the budgets' own time,
    ///   to begin with the next time.
    func snapshot(since minute: Int) -> (records: [BudgetRecord], blocks: [BudgetBlock], minute: Int) {
        // Read first: what is counted meanwhile belongs to this minute or a later one, and comes again.
        let current = clock.time.minute
        let lead = clock.leadInMinutes
        var records: [BudgetRecord] = []
        var blocks: [BudgetBlock] = []
        for shard in shards {
            shard.apps.withLock { apps in
                let time = clock.time
                for index in apps.indices { apps.values[index].sweep(at: time) }
                if apps.values.contains(where: \.isIdle) { apps = apps.filter { !$0.value.isIdle } }
                for (app, budgets) in apps {
                    for (key, budget) in budgets.budgets {
                        budget.record(of: app, key, since: minute, lead: lead, into: &records)
                        guard let until = budget.blockedUntil else { continue }
                        blocks.append(
                            BudgetBlock(
                                app: app, endpoint: key.endpoint, environment: key.environment,
                                until: clock.date(of: until)))
                    }
                }
            }
        }
        return (records, blocks, current)
    }

    /// Counts calls that an earlier run has made.
    ///
    /// What seems to lie ahead was counted before the time of day was set back; it counts as made now, since nobody can
    /// tell how long ago it was.
    func restore(_ records: [BudgetRecord]) {
        let lead = clock.leadInMinutes
        for record in records.sorted(by: { $0.minute < $1.minute }) {
            shard(of: record.call.app).apps.withLock { apps in
                let now = clock.time.minute
                let minute = min(record.minute - lead, now)
                guard minute + CallCount.lifetime > now else { return }
                apps[record.call.app, default: AppBudgets()].restore(record.calls, record.call, policy, at: minute)
            }
        }
    }

    /// Takes up Apple's wishes to wait again, as the time of day is told now.
    func restore(_ blocks: [BudgetBlock]) -> [RestoredBlock] {
        blocks.map { block in
            let until = end(of: block)
            shard(of: block.app).apps.withLock { apps in
                apps[block.app, default: AppBudgets()].block(BudgetKey(block), app: block.app, policy, until: until)
            }
            return RestoredBlock(block: block, until: until)
        }
    }

    /// Puts right what was taken up by a clock that was wrong, unless Apple has asked to wait longer since.
    func correct(_ blocks: [RestoredBlock]) {
        for restored in blocks {
            let until = end(of: restored.block)
            shard(of: restored.block.app).apps.withLock { apps in
                apps[restored.block.app, default: AppBudgets()].moveBlock(
                    BudgetKey(restored.block), app: restored.block.app, policy, from: restored.until, to: until)
            }
        }
    }

    private func end(of block: BudgetBlock) -> BudgetTime {
        min(clock.time(of: block.until), clock.time.advanced(by: Self.longestBlock))
    }
}

/// A wish to wait as it was taken up.
struct RestoredBlock: Sendable {
    let block: BudgetBlock
    let until: BudgetTime
}

extension BudgetKey {
    fileprivate init(_ block: BudgetBlock) {
        self.init(endpoint: block.endpoint, environment: block.environment)
    }
}

extension RateBudget {
    /// Appends a record for every caller and minute from the given one on.
    fileprivate func record(
        of app: String, _ key: BudgetKey, since minute: Int, lead: Int, into records: inout [BudgetRecord]
    ) {
        for (priority, count) in [(CallPriority.interactive, interactive), (.deadlineBound, deadlineBound)] {
            for (caller, count) in count.callers {
                for entry in count.minutes.reversed().prefix(while: { Int($0.number) >= minute }) {
                    let call = BudgetedCall(
                        app: app, endpoint: key.endpoint, environment: key.environment, caller: caller,
                        priority: priority)
                    records.append(
                        BudgetRecord(call: call, minute: Int(entry.number) + lead, calls: Int(entry.calls)))
                }
            }
        }
    }
}

/// Calls of one minute, as they are kept beyond a restart.
package struct BudgetRecord: Sendable, Hashable {
    package let call: BudgetedCall
    /// Since 1970, by the time of day.
    package let minute: Int
    /// How many, at least one.
    package let calls: Int

    package init(call: BudgetedCall, minute: Int, calls: Int) {
        self.call = call
        self.minute = minute
        self.calls = calls
    }
}

/// Apple's wish to wait, as it is kept beyond a restart.
package struct BudgetBlock: Sendable, Hashable {
    package let app: String
    /// The title of Apple's page for the call.
    package let endpoint: String
    package let environment: AppStoreEnvironment
    package let until: Date

    package init(app: String, endpoint: String, environment: AppStoreEnvironment, until: Date) {
        self.app = app
        self.endpoint = endpoint
        self.environment = environment
        self.until = until
    }
}

/// Keeps what was used of the budgets; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`. Times of day are whole milliseconds, as `BudgetClock` tells them.
package protocol BudgetStore: Sendable {
    /// The records of some minutes.
    func budgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) -> [BudgetRecord]

    /// Keeps records, each in place of an earlier one of the same call and minute.
    func saveBudgetRecords(_ records: [BudgetRecord]) async throws(ServiceError)

    /// Forgets the records of all other minutes.
    func keepBudgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError)

    /// The blocks that last beyond a time.
    func budgetBlocks(after date: Date) async throws(ServiceError) -> [BudgetBlock]

    /// Keeps these blocks, in place of all that are kept.
    func replaceBudgetBlocks(_ blocks: [BudgetBlock]) async throws(ServiceError)
}
