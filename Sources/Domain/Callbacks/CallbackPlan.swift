package import Foundation

/// What one round of a callback sends, lane by lane: within a lane one event after the other, and none behind one that fails.
struct CallbackPlan: Sendable {
    /// Something to send.
    struct Item: Sendable {
        let entry: CallbackEntry
        /// Whether it waited already.
        let isWaiting: Bool
    }

    /// What is sent now, by lane, each in its order.
    private(set) var lanes: [[Item]] = []
    /// New events behind one that waits for its time: they wait too.
    private(set) var blocked: [CallbackEntry] = []
    /// The first time at which something that waits is due; nil when nothing waits.
    private(set) var nextDue: Date?

    /// Sorts what is there at a time.
    ///
    /// `longestPause`: what would wait longer was noted before the clock was set back, and is due.
    init(_ work: CallbackWork, at now: Date, longestPause: Duration) {
        let latest = now.advanced(by: longestPause)
        var order: [String] = []
        var byLane: [String: [Item]] = [:]
        var resting: Set<String> = []
        for entry in work.waiting where !resting.contains(entry.lane) {
            if byLane[entry.lane] == nil, let due = entry.nextAttemptAt, due > now, due <= latest {
                resting.insert(entry.lane)
                nextDue = min(nextDue ?? due, due)
                continue
            }
            if byLane[entry.lane] == nil { order.append(entry.lane) }
            byLane[entry.lane, default: []].append(Item(entry: entry, isWaiting: true))
        }
        for event in work.events {
            let entry = CallbackEntry(position: event.event.position, lane: event.lane, event: event)
            if resting.contains(event.lane) {
                blocked.append(entry)
                continue
            }
            if byLane[event.lane] == nil { order.append(event.lane) }
            byLane[event.lane, default: []].append(Item(entry: entry, isWaiting: false))
        }
        lanes = order.compactMap { byLane[$0] }
    }

    /// Whether there is nothing to send, and nothing to keep.
    var isEmpty: Bool { lanes.isEmpty && blocked.isEmpty }
}

/// How long an event waits after it failed, and for how long it is tried.
package struct CallbackRetries: Sendable {
    /// From the first failure on.
    let lifetime: Duration
    /// The longest pause of our own.
    let cap: Duration
    /// The longest that a receiver may ask for.
    let longestAsked: Duration
    /// A number in 0..<1.
    let random: @Sendable () -> Double

    package init(
        lifetime: Duration = .seconds(3 * 86_400), cap: Duration = .seconds(900),
        longestAsked: Duration = .seconds(3600),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.lifetime = lifetime
        self.cap = cap
        self.longestAsked = longestAsked
        self.random = random
    }

    /// The pause after so many attempts: 5 seconds, twice as long each time; its latter half is drawn, so that events which
    /// failed together do not come back together.
    func pause(after attempts: Int) -> Duration {
        let bound = min(Duration.seconds(5) * (1 << min(max(attempts, 1) - 1, 20)), cap)
        return bound / 2 + bound / 2 * random()
    }

    /// When an event is tried again that failed now, so often, and first at a time: not before the receiver wants it, within the
    /// longest that it may ask for, and while the event is tried at all.
    package func nextAttempt(after attempts: Int, since first: Date, asked: Duration?, at now: Date) -> Date {
        let pause = max(pause(after: attempts), min(asked ?? .zero, longestAsked))
        let (due, last) = (now.advanced(by: pause), first.advanced(by: lifetime))
        return last > now ? min(due, last) : due
    }

    /// The longest that anything waits; what would wait longer was noted before the clock was set back.
    package var longestPause: Duration { max(cap, longestAsked) }
}
