import Synchronization

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

    /// Takes up Apple's wishes to wait again.
    func restore(_ blocks: [BudgetBlock]) {
        for block in blocks {
            shard(of: block.app).apps.withLock { apps in
                let latest = clock.time.advanced(by: Self.longestBlock)
                apps[block.app, default: AppBudgets()].block(
                    BudgetKey(endpoint: block.endpoint, environment: block.environment), app: block.app, policy,
                    until: min(clock.time(of: block.until), latest))
            }
        }
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
