/// The calls of the last hour of one kind, by caller.
struct SharedCount: Sendable {
    /// How it stands for one caller at some minute.
    struct Standing: Sendable {
        /// The calls of all callers.
        var total = 0
        /// Those of the one who asks.
        var own = 0
        /// How many callers have calls that count.
        var callers = 0
        /// Whether our own work is one of them.
        var includesOwnWork = false
    }

    /// How many callers are counted by themselves; those beyond are counted together.
    static let maximumCallers = 64
    /// What those beyond are counted as; no caller can have this name.
    static let others = "(others)"

    private(set) var callers: [String: CallCount] = [:]
    private(set) var total = 0

    /// Counts a caller's calls.
    mutating func add(_ calls: Int, by caller: String, at minute: Int) {
        callers[name(of: caller), default: CallCount()].add(calls, at: minute)
        total += calls
    }

    /// Forgets what is too old in this minute.
    mutating func expire(at minute: Int) {
        for index in callers.indices { total -= callers.values[index].expire(at: minute) }
        if callers.values.contains(where: { $0.total == 0 }) {
            callers = callers.filter { $0.value.total > 0 }
        }
    }

    /// How it stands now for a caller.
    func standing(of caller: String) -> Standing {
        Standing(
            total: total, own: callers[name(of: caller)]?.total ?? 0, callers: callers.count,
            includesOwnWork: callers[BudgetedCall.ownWork] != nil)
    }

    /// How it will stand for a caller at each minute until everything has left the count, if no more calls are made.
    ///
    /// - Returns: the present minute first, `CallCount.lifetime` more after it.
    func forecast(for caller: String, from minute: Int) -> [Standing] {
        var standings = Array(repeating: Standing(), count: CallCount.lifetime + 1)
        let name = name(of: caller)
        for (other, count) in callers {
            let isOwn = other == name
            // The last minute, seen from the present one, in which any call of theirs counts.
            var last = 0
            for entry in count.minutes {
                last = Int(entry.number) + CallCount.lifetime - 1 - minute
                standings[last].total += Int(entry.calls)
                if isOwn { standings[last].own += Int(entry.calls) }
            }
            standings[last].callers += 1
            if other == BudgetedCall.ownWork { standings[last].includesOwnWork = true }
        }
        for index in standings.indices.dropLast().reversed() {
            let next = standings[index + 1]
            standings[index].total += next.total
            standings[index].own += next.own
            standings[index].callers += next.callers
            standings[index].includesOwnWork = standings[index].includesOwnWork || next.includesOwnWork
        }
        return standings
    }

    private func name(of caller: String) -> String {
        callers.count < Self.maximumCallers || callers[caller] != nil ? caller : Self.others
    }
}

extension SharedCount.Standing {
    /// What the caller may use of a capacity, what it has used included.
    ///
    /// `known`: how many callers there are; nil where nobody knows.
    func allowance(of capacity: Int, known: Int?) -> Int {
        let callers = callers + (own == 0 ? 1 : 0)
        // Our own work is none of the callers that may still come.
        let named = callers - (includesOwnWork ? 1 : 0)
        return FairShare.allowance(
            of: capacity, usedByOthers: total - own, callers: callers, mayGrow: known.map { named < $0 } ?? true)
    }
}
