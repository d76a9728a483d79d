import Foundation
import Synchronization

/// The budgets of every app: what may be called, counted over a sliding hour and shared out fairly.
///
/// Each call costs the same however many apps there are. What nobody used for an hour is forgotten at the next checkpoint,
/// so that memory follows the calls of the last hour.
package final class RateBudgets: CallBudget {
    /// The longest that Apple is believed to want us to wait: its limits are by the hour, and a garbled time must not shut
    /// an endpoint for good.
    package static let longestBlock = Duration.seconds(24 * 3600)
    /// Apps share a lock with 1 in so many others.
    private static let shardCount = 256

    private let currentPolicy: Mutex<RatePolicy>
    let clock: BudgetClock
    let shards: [Shard]
    /// What this copy may use; nil where one process has the store, which may use all of it.
    let slices: BudgetSlices?

    package init(policy: RatePolicy, clock: BudgetClock, slices: BudgetSlices? = nil) {
        currentPolicy = Mutex(policy)
        self.clock = clock
        self.slices = slices
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    /// What the budgets hold calls to at present.
    var policy: RatePolicy { currentPolicy.withLock(\.self) }

    /// Takes note of how many callers share each app's limits, by its slug, from now on.
    package func share(among callers: [String: Int]) { currentPolicy.withLock { $0.callers = callers } }

    /// Holds calls to other limits from now on; what was used stays used, but a quota that is new counts from now on.
    package func replace(limits: [AppStoreEnvironment: [String: RateLimit]], quotas: [String: Int]) {
        currentPolicy.withLock { $0 = RatePolicy(limits: limits, quotas: quotas, callers: $0.callers) }
        // For those who only look: whoever calls takes the limit of that moment anyway.
        let policy = policy
        for shard in shards {
            shard.apps.withLock { apps in
                for slug in apps.keys { apps[slug]?.takeLimits(of: policy) }
            }
        }
    }

    package func admit(_ call: BudgetedCall) -> BudgetDecision {
        let policy = policy
        // The clock is read under the lock, so that no budget sees time go back.
        return shard(of: call.app).apps.withLock { apps in
            guard let slices else { return apps[call.app, default: AppBudgets()].admit(call, policy, at: clock.time) }
            let time = clock.time
            let isLimited = policy.limits[call.environment]?[call.endpoint] != nil
            let isTaken = slices.take(call, isLimited: isLimited, at: time)
            let decision = apps[call.app, default: AppBudgets()].admit(call, policy, at: time, isCounted: isTaken)
            guard isTaken else {
                // The rest is with other copies: what they do not use comes back.
                let refusal = BudgetDecision.Refusal(cause: .exhausted, retryAfter: BudgetSlices.interval)
                return decision == .admitted ? .refused(refusal) : decision
            }
            if decision != .admitted { slices.giveBack(call, isLimited: isLimited) }
            return decision
        }
    }

    package func prepare(_ call: BudgetedCall) async { await slices?.prepare(call, self) }

    package func appleRefused(_ call: BudgetedCall, for duration: Duration) {
        guard duration > .zero else { return }
        let wait = min(duration, Self.longestBlock)
        shard(of: call.app).apps.withLock { apps in
            let until = clock.time.advanced(by: wait)
            apps[call.app, default: AppBudgets()].block(BudgetKey(call), app: call.app, policy, until: until)
            slices?.note(blockedUntil: until, BudgetSlices.Name(call))
        }
    }

    /// Takes up how a budget stands that other copies use as well.
    ///
    /// - Parameters:
    ///   - standing: what the store has counted.
    ///   - name: the budget.
    ///   - minute: the present one, by the store's clock.
    ///   - settle: takes what was given, and tells what was counted here since the store was told.
    func take(
        _ standing: BudgetExchange.Standing, of name: BudgetSlices.Name, minute: Int,
        settle: () -> [BudgetedCall: Int]
    ) {
        let policy = policy
        shard(of: name.app).apps.withLock { apps in
            let time = clock.time
            var counted = standing.records.map { record in
                (record.call, min(time.minute, time.minute - (minute - record.minute)), record.calls)
            }
            counted += settle().map { ($0, time.minute, $1) }
            apps[name.app, default: AppBudgets()].replace(name.key, app: name.app, policy, with: counted)
            guard let wait = standing.blockedFor, wait > .zero else { return }
            apps[name.app, default: AppBudgets()].block(
                name.key, app: name.app, policy, until: time.advanced(by: min(wait, Self.longestBlock)))
        }
    }

    func shard(of app: String) -> Shard {
        shards[Int(UInt(bitPattern: app.hashValue) % UInt(Self.shardCount))]
    }

    /// Some of the apps, under one lock.
    final class Shard: Sendable {
        let apps = Mutex<[String: AppBudgets]>([:])
    }
}

/// An instant on the time line of the budgets: the time of day when they were made, and from then on a monotonic clock, so
/// that no correction of the time of day makes an hour longer or shorter.
struct BudgetTime: Sendable, Comparable {
    /// Since 1970 on that line.
    let milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The beginning of a minute.
    init(minute: Int) { milliseconds = Int64(minute) * 60_000 }

    /// Whole minutes since 1970 on that line.
    var minute: Int { Int(milliseconds / 60_000) }

    func advanced(by duration: Duration) -> BudgetTime {
        BudgetTime(milliseconds: milliseconds + duration.milliseconds)
    }

    static func < (left: BudgetTime, right: BudgetTime) -> Bool { left.milliseconds < right.milliseconds }
}

/// Tells the budgets' time.
package struct BudgetClock: Sendable {
    private let now: WallClock
    private let monotonicNow: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    /// What the time of day was at `start`, since 1970.
    private let startMilliseconds: Int64

    /// - Parameters:
    ///   - now: the time of day.
    ///   - monotonicNow: what measures durations.
    package init(
        now: @escaping WallClock,
        monotonicNow: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.now = now
        self.monotonicNow = monotonicNow
        start = monotonicNow()
        startMilliseconds = now().milliseconds
    }

    /// The present instant.
    var time: BudgetTime {
        BudgetTime(milliseconds: startMilliseconds + start.duration(to: monotonicNow()).milliseconds)
    }

    /// The time of day at an instant, as the time of day is told now.
    func date(of time: BudgetTime) -> Date {
        Date(milliseconds: time.milliseconds + lead)
    }

    /// The instant at a time of day, as the time of day is told now.
    func time(of date: Date) -> BudgetTime { BudgetTime(milliseconds: date.milliseconds - lead) }

    /// How many minutes the time of day is ahead, to the nearest.
    var leadInMinutes: Int { Int((Double(lead) / 60_000).rounded()) }

    /// How far the time of day is ahead of the budgets' time: by what it was corrected since `start`.
    private var lead: Int64 { now().milliseconds - time.milliseconds }
}

extension Duration {
    /// Whole milliseconds; what is less is dropped.
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
