/// What is left of Apple's limit for one app, endpoint and environment.
struct RateBudget: Sendable {
    /// Why a call is not admitted, and when it could be.
    struct Refusal {
        let cause: BudgetDecision.Refusal.Cause
        let until: BudgetTime
    }

    /// Nil where calls are only counted.
    let limit: RateLimit?
    /// How many callers share it, where that is known.
    let knownCallers: Int?
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

    /// Counts a caller's calls.
    mutating func add(_ calls: Int = 1, by caller: String, _ priority: CallPriority, at minute: Int) {
        switch priority {
        case .interactive: interactive.add(calls, by: caller, at: minute)
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
        case .interactive: (interactive, deadlineBound)
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
        }
    }
}
