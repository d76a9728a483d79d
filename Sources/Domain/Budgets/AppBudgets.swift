/// One of an app's budgets.
struct BudgetKey: Sendable, Hashable {
    /// The title of Apple's page for the call.
    let endpoint: String
    let environment: AppStoreEnvironment

    init(endpoint: String, environment: AppStoreEnvironment) {
        self.endpoint = endpoint
        self.environment = environment
    }

    init(_ call: BudgetedCall) {
        self.init(endpoint: call.endpoint, environment: call.environment)
    }
}

/// The budgets of one app, and what its callers have used of their own quotas.
struct AppBudgets: Sendable {
    private(set) var budgets: [BudgetKey: RateBudget] = [:]
    /// The calls of those callers that have a quota.
    private(set) var quotaUse: [String: CallCount] = [:]

    /// Counts a call and admits it, or refuses it.
    ///
    /// `isCounted`: false only to hear what would be said.
    mutating func admit(
        _ call: BudgetedCall, _ policy: RatePolicy, at time: BudgetTime, isCounted: Bool = true
    ) -> BudgetDecision {
        let minute = time.minute
        let quota = policy.quotas[call.caller]
        var refusals: [RateBudget.Refusal] = []
        if let quota { refusals = quotaRefusals(of: call.caller, quota, at: minute) }
        withBudget(BudgetKey(call), app: call.app, policy) { budget in
            budget.advance(to: time)
            refusals += budget.refusals(of: call.caller, call.priority, at: time)
            if refusals.isEmpty, isCounted { budget.add(by: call.caller, call.priority, at: minute) }
        }
        // All of them must have passed before the call can be made.
        if let last = refusals.max(by: { $0.until < $1.until }) {
            let wait = Duration.milliseconds(max(1, last.until.milliseconds - time.milliseconds))
            return .refused(BudgetDecision.Refusal(cause: last.cause, retryAfter: wait))
        }
        if quota != nil, isCounted { quotaUse[call.caller, default: CallCount()].add(1, at: minute) }
        return .admitted
    }

    /// Counts other calls of one budget than were counted so far, and what quotas are used anew with them.
    ///
    /// `calls`: each with its minute and how many there were.
    mutating func replace(
        _ key: BudgetKey, app: String, _ policy: RatePolicy, with calls: [(call: BudgetedCall, minute: Int, count: Int)]
    ) {
        withBudget(key, app: app, policy) { budget in
            budget.forgetCalls()
            for (call, minute, count) in calls.sorted(by: { $0.minute < $1.minute }) {
                budget.add(count, by: call.caller, call.priority, at: minute)
            }
        }
        guard !policy.quotas.isEmpty else { return }
        quotaUse = [:]
        for caller in policy.quotas.keys {
            let minutes = budgets.values.flatMap { $0.minutes(of: caller) }.sorted { $0.number < $1.number }
            for minute in minutes {
                quotaUse[caller, default: CallCount()].add(Int(minute.calls), at: Int(minute.number))
            }
        }
    }

    /// Takes note of Apple's wish to wait; a longer one that is known already stands.
    mutating func block(_ key: BudgetKey, app: String, _ policy: RatePolicy, until: BudgetTime) {
        withBudget(key, app: app, policy) { budget in
            budget.blockedUntil = max(until, budget.blockedUntil ?? until)
        }
    }

    /// Moves the end of a wish to wait, if it still is where it was put or seemed to be over.
    mutating func moveBlock(
        _ key: BudgetKey, app: String, _ policy: RatePolicy, from end: BudgetTime, to newEnd: BudgetTime
    ) {
        withBudget(key, app: app, policy) { budget in
            guard budget.blockedUntil == nil || budget.blockedUntil == end else { return }
            budget.blockedUntil = newEnd
        }
    }

    /// Counts calls that were made earlier.
    mutating func restore(_ calls: Int, _ call: BudgetedCall, _ policy: RatePolicy, at minute: Int) {
        withBudget(BudgetKey(call), app: call.app, policy) { budget in
            budget.add(calls, by: call.caller, call.priority, at: minute)
        }
        if policy.quotas[call.caller] != nil {
            quotaUse[call.caller, default: CallCount()].add(calls, at: minute)
        }
    }

    /// Takes the limits of another policy; what was used stays used.
    mutating func takeLimits(of policy: RatePolicy) {
        for key in budgets.keys { budgets[key]?.limit = policy.limits[key.environment]?[key.endpoint] }
    }

    /// Whether nothing is left to remember.
    var isIdle: Bool { budgets.isEmpty && quotaUse.isEmpty }

    /// Forgets what is too old, and every budget with which nothing is left.
    mutating func sweep(at time: BudgetTime) {
        for index in budgets.indices { budgets.values[index].advance(to: time) }
        if budgets.values.contains(where: \.isIdle) { budgets = budgets.filter { !$0.value.isIdle } }
        for index in quotaUse.indices { _ = quotaUse.values[index].expire(at: time.minute) }
        if quotaUse.values.contains(where: { $0.total == 0 }) { quotaUse = quotaUse.filter { $0.value.total > 0 } }
    }

    private mutating func quotaRefusals(of caller: String, _ quota: Int, at minute: Int) -> [RateBudget.Refusal] {
        guard quotaUse[caller] != nil else { return [] }
        _ = quotaUse[caller]?.expire(at: minute)
        guard let use = quotaUse[caller], use.total >= quota else { return [] }
        let until = use.firstMinute(from: minute, withFewerThan: quota)
        return [RateBudget.Refusal(cause: .quota, until: BudgetTime(minute: until))]
    }

    private mutating func withBudget(
        _ key: BudgetKey, app: String, _ policy: RatePolicy, _ body: (inout RateBudget) -> Void
    ) {
        func use(_ budget: inout RateBudget) {
            // Callers come and go while the budget is in use, and a reload may bring another limit.
            budget.limit = policy.limits[key.environment]?[key.endpoint]
            budget.knownCallers = policy.callers[app]
            body(&budget)
        }
        use(&budgets[key, default: policy.budget(key, app: app)])
    }
}

extension RatePolicy {
    /// A budget of which nothing was used yet.
    func budget(_ key: BudgetKey, app: String) -> RateBudget {
        RateBudget(limit: limits[key.environment]?[key.endpoint], knownCallers: callers[app])
    }
}

/// What is left of Apple's limit for one app, endpoint and environment.
struct RateBudget: Sendable {
    /// Why a call is not admitted, and when it could be.
    struct Refusal {
        let cause: BudgetDecision.Refusal.Cause
        let until: BudgetTime
    }

    /// Nil where calls are only counted.
    var limit: RateLimit?
    /// How many callers share it, where that is known.
    var knownCallers: Int?
    /// Until when Apple has asked to wait.
    var blockedUntil: BudgetTime?
    private(set) var interactive = SharedCount()
    private(set) var deadlineBound = SharedCount()
    /// The minute in which what is too old was last forgotten.
    private var minute = Int.min

    init(limit: RateLimit?, knownCallers: Int?) {
        self.limit = limit
        self.knownCallers = knownCallers
    }

    /// Whether it can be forgotten: nothing counts, and Apple has not asked to wait.
    var isIdle: Bool { total == 0 && blockedUntil == nil }

    /// The calls that count.
    var total: Int { interactive.total + deadlineBound.total }

    /// Forgets what is too old.
    mutating func advance(to time: BudgetTime) {
        if let blockedUntil, blockedUntil <= time { self.blockedUntil = nil }
        guard time.minute > minute else { return }
        minute = time.minute
        interactive.expire(at: minute)
        deadlineBound.expire(at: minute)
    }

    /// Forgets every call.
    mutating func forgetCalls() { (interactive, deadlineBound) = (SharedCount(), SharedCount()) }

    /// When a caller has made how many calls, in no order.
    func minutes(of caller: String) -> [CallCount.Minute] {
        [interactive, deadlineBound].flatMap { $0.callers[caller]?.minutes ?? [] }
    }

    /// Counts a caller's calls.
    mutating func add(_ calls: Int = 1, by caller: String, _ priority: CallPriority, at minute: Int) {
        switch priority {
        case .interactive, .background: interactive.add(calls, by: caller, at: minute)
        case .deadlineBound: deadlineBound.add(calls, by: caller, at: minute)
        }
    }

    /// What keeps a call from being made now, if anything; the budget must have been advanced to now.
    func refusals(of caller: String, _ priority: CallPriority, at time: BudgetTime) -> [Refusal] {
        var refusals: [Refusal] = []
        if let blockedUntil { refusals.append(Refusal(cause: .apple, until: blockedUntil)) }
        let (asked, other) = counts(for: priority)
        if let cause = cause(priority, asked.standing(of: caller), besides: other.total) {
            refusals.append(Refusal(cause: cause, until: opening(for: caller, priority, after: time.minute)))
        }
        return refusals
    }
}

// MARK: The rule

extension RateBudget {
    /// What keeps a caller from one more call, given how it stands among the calls of this priority, and the calls of the
    /// other.
    private func cause(
        _ priority: CallPriority, _ standing: SharedCount.Standing, besides otherTotal: Int
    ) -> BudgetDecision.Refusal.Cause? {
        guard let limit else { return nil }
        let capacity = limit.capacity(for: priority, besides: otherTotal)
        guard standing.total < capacity else { return .exhausted }
        return standing.own < standing.allowance(of: capacity, known: knownCallers) ? nil : .unfair
    }

    /// When one more call of a caller is admitted, if no others are made until then.
    private func opening(for caller: String, _ priority: CallPriority, after minute: Int) -> BudgetTime {
        let (asked, other) = counts(for: priority)
        let standings = asked.forecast(for: caller, from: minute)
        let others = other.forecast(for: caller, from: minute)
        let ahead = standings.indices.dropFirst().first { index in
            cause(priority, standings[index], besides: others[index].total) == nil
        }
        // With nothing counted any call is admitted, so there always is such a minute.
        return BudgetTime(minute: minute + (ahead ?? CallCount.lifetime))
    }

    private func counts(for priority: CallPriority) -> (asked: SharedCount, other: SharedCount) {
        switch priority {
        case .interactive, .background: (interactive, deadlineBound)
        case .deadlineBound: (deadlineBound, interactive)
        }
    }
}

// MARK: What is left

extension RateBudget {
    /// How many more interactive calls there is room for, all callers together; nil without a limit.
    var remaining: Int? {
        guard let limit else { return nil }
        return max(0, limit.capacity(for: .interactive, besides: deadlineBound.total) - interactive.total)
    }

    /// How many interactive calls a caller could still make at once; nil without a limit.
    func remaining(for caller: String) -> Int? {
        guard let limit else { return nil }
        let standing = interactive.standing(of: caller)
        let capacity = limit.capacity(for: .interactive, besides: deadlineBound.total)
        return max(0, standing.allowance(of: capacity, known: knownCallers) - standing.own)
    }
}

extension RateLimit {
    /// How many calls of one priority may be made in an hour, given those of the other.
    ///
    /// What work with a deadline uses comes out of its reserve first.
    fileprivate func capacity(for priority: CallPriority, besides otherTotal: Int) -> Int {
        switch priority {
        case .interactive: callsPerHour - max(reserved, otherTotal)
        case .deadlineBound: callsPerHour - otherTotal
        case .background: (callsPerHour - max(reserved, otherTotal)) / 2
        }
    }
}
