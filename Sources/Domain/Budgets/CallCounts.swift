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
            total: total, own: callers[name(of: caller)]?.total ?? 0,
            // What is lost is nobody's, and leaves nobody less than a share.
            callers: callers.count - (callers[BudgetedCall.lost] == nil ? 0 : 1),
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
            if other != BudgetedCall.lost { standings[last].callers += 1 }
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

/// How many calls were made in the last hour, by minute.
///
/// A call leaves the count when sixty whole minutes have passed since the minute in which it was made, so that no hour,
/// wherever it begins, holds a call that is not counted. The price is that a call stays up to a minute too long.
struct CallCount: Sendable {
    struct Minute: Sendable {
        /// Since the beginning of the budgets' time.
        let number: Int32
        var calls: Int32
    }

    /// In how many minutes' time, counted from its own minute, a call has left the count.
    static let lifetime = 61

    /// Those in which there was a call, in ascending order; at most `lifetime`.
    private(set) var minutes: [Minute] = []
    private(set) var total = 0

    /// Counts calls of a minute; a minute before the last one counted is taken for that one.
    mutating func add(_ calls: Int, at minute: Int) {
        let number = max(Int32(minute), minutes.last?.number ?? .min)
        if minutes.last?.number == number {
            minutes[minutes.count - 1].calls += Int32(calls)
        } else {
            minutes.append(Minute(number: number, calls: Int32(calls)))
        }
        total += calls
    }

    /// Forgets what is too old in this minute.
    ///
    /// - Returns: how many calls that were.
    mutating func expire(at minute: Int) -> Int {
        let old = minutes.prefix { Int($0.number) + Self.lifetime <= minute }
        guard !old.isEmpty else { return 0 }
        let calls = old.reduce(0) { $0 + Int($1.calls) }
        minutes.removeFirst(old.count)
        total -= calls
        return calls
    }

    /// The first minute from the given one on in which fewer than so many calls count, if no more are made.
    func firstMinute(from minute: Int, withFewerThan bound: Int) -> Int {
        var remaining = total
        for entry in minutes {
            if remaining < bound { break }
            remaining -= Int(entry.calls)
            if remaining < bound { return max(minute, Int(entry.number) + Self.lifetime) }
        }
        return minute
    }
}
