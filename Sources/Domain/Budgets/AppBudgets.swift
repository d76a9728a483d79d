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
    mutating func admit(_ call: BudgetedCall, _ policy: RatePolicy, at time: BudgetTime) -> BudgetDecision {
        let minute = time.minute
        let quota = policy.quotas[call.caller]
        var refusals: [RateBudget.Refusal] = []
        if let quota { refusals = quotaRefusals(of: call.caller, quota, at: minute) }
        withBudget(BudgetKey(call), app: call.app, policy) { budget in
            budget.advance(to: time)
            refusals += budget.refusals(of: call.caller, call.priority, at: time)
            if refusals.isEmpty { budget.add(by: call.caller, call.priority, at: minute) }
        }
        // All of them must have passed before the call can be made.
        if let last = refusals.max(by: { $0.until < $1.until }) {
            let wait = Duration.milliseconds(max(1, last.until.milliseconds - time.milliseconds))
            return .refused(BudgetDecision.Refusal(cause: last.cause, retryAfter: wait))
        }
        if quota != nil { quotaUse[call.caller, default: CallCount()].add(1, at: minute) }
        return .admitted
    }

    /// Takes note of Apple's wish to wait; a longer one that is known already stands.
    mutating func block(_ key: BudgetKey, app: String, _ policy: RatePolicy, until: BudgetTime) {
        withBudget(key, app: app, policy) { budget in
            budget.blockedUntil = max(until, budget.blockedUntil ?? until)
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
        body(&budgets[key, default: policy.budget(key, app: app)])
    }
}

extension RatePolicy {
    /// A budget of which nothing was used yet.
    func budget(_ key: BudgetKey, app: String) -> RateBudget {
        RateBudget(limit: limits[key.environment]?[key.endpoint], knownCallers: callers[app])
    }
}
