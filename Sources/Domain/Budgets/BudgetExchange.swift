/// What a copy of the daemon tells the store of budgets that it shares with others, and what it asks of them.
package struct BudgetExchange: Sendable {
    /// Of one app, endpoint and environment.
    package struct Request: Sendable {
        package let app: String
        /// The title of Apple's page for the call.
        package let endpoint: String
        package let environment: AppStoreEnvironment
        /// Nil where calls are only counted.
        package let limit: RateLimit?
        /// Calls that were made since the copy last told, each at least once.
        package let used: [BudgetedCall: Int]
        /// How many calls of its slice the copy keeps for itself meanwhile, by kind; what is not named it gives back.
        package let kept: [CallPriority: Int]
        /// Of which kinds it asks for more.
        package let wanted: Set<CallPriority>
        /// How many calls wait for this, by kind.
        package var waiting: [CallPriority: Int] = [:]
        /// How long Apple has asked to wait; nil where it has not, or where that was told before.
        package let blockedFor: Duration?

        package init(
            app: String, endpoint: String, environment: AppStoreEnvironment, limit: RateLimit?,
            used: [BudgetedCall: Int], kept: [CallPriority: Int], wanted: Set<CallPriority>, blockedFor: Duration?
        ) {
            self.app = app
            self.endpoint = endpoint
            self.environment = environment
            self.limit = limit
            self.used = used
            self.kept = kept
            self.wanted = wanted
            self.blockedFor = blockedFor
        }
    }

    /// How one budget stands, of all copies.
    package struct Standing: Sendable {
        /// The calls of the last hour, also those of copies that died with a slice.
        package let records: [BudgetRecord]
        /// How many calls more the copy may make, by kind.
        package let granted: [CallPriority: Int]
        /// How long Apple has asked to wait from now on; nil where it has not.
        package let blockedFor: Duration?

        package init(records: [BudgetRecord], granted: [CallPriority: Int], blockedFor: Duration?) {
            self.records = records
            self.granted = granted
            self.blockedFor = blockedFor
        }
    }

    /// Names the copy for as long as its process runs.
    package let copy: String
    /// After how long, from when the store decides, what the copy has is nobody's any more.
    package let lease: Duration
    package let requests: [Request]

    package init(copy: String, lease: Duration, requests: [Request]) {
        self.copy = copy
        self.lease = lease
        self.requests = requests
    }
}

/// Shares budgets out among the copies of the daemon, by its own clock.
package protocol SharedBudgetStore: Sendable {
    /// Counts what a copy has used, and gives it slices, in one atomic operation.
    ///
    /// What is given and what was used, of all copies, is never more than the limit. A slice whose copy has not come back before
    /// its lease ended counts as used when it ended: nobody knows how much of it was.
    ///
    /// - Returns: the present minute by the store's clock, and how each budget stands, in the order of the requests.
    /// - Throws: `storeUnavailable`; what was told may be counted all the same.
    func exchangeBudgets(
        _ exchange: BudgetExchange
    ) async throws(ServiceError) -> (minute: Int, standings: [BudgetExchange.Standing])

    /// Forgets the calls and waits that count no more.
    ///
    /// - Throws: `storeUnavailable`.
    func forgetOldBudgets() async throws(ServiceError)
}

extension CallPriority {
    /// Which of the two kinds of slice a call is taken from.
    package var sharedKind: CallPriority { self == .background ? .interactive : self }
}

extension BudgetExchange {
    /// How many calls more a copy may be given of one kind.
    ///
    /// - Parameters:
    ///   - kind: of which kind; never `background`.
    ///   - limit: the whole budget's.
    ///   - taken: what is used or with somebody, of each kind, the copy's own included.
    ///   - demand: how many calls of this kind it has made since it last told, and how many wait.
    ///   - kept: what the copy has of this kind.
    ///   - copies: how many copies live.
    /// - Returns: a part of what is left, so that the others find something too: at least one as long as one is left. Where that is
    ///   much, no more than twice what is asked for: a copy that dies takes its slice with it, and one that dies again and again, and
    ///   does little in between, must not use up a limit for all.
    package static func grant(
        _ kind: CallPriority, of limit: RateLimit, taken: [CallPriority: Int], demand: Int, kept: Int,
        copies: Int
    ) -> Int {
        let other = taken[kind == .deadlineBound ? .interactive : .deadlineBound, default: 0]
        let capacity =
            kind == .deadlineBound ? limit.callsPerHour - other : limit.callsPerHour - max(limit.reserved, other)
        let left = capacity - taken[kind, default: 0]
        guard left > 0 else { return 0 }
        let size = max(8, min(limit.callsPerHour / 64, max(64, 2 * demand)))
        return min(max(0, size - kept), max(1, left / (2 * max(1, copies))))
    }
}
