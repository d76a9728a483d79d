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
