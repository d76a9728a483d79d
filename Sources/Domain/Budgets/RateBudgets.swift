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

    let policy: RatePolicy
    let clock: BudgetClock
    let shards: [Shard]

    package init(policy: RatePolicy, clock: BudgetClock) {
        self.policy = policy
        self.clock = clock
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    package func admit(_ call: BudgetedCall) -> BudgetDecision {
        // The clock is read under the lock, so that no budget sees time go back.
        shard(of: call.app).apps.withLock { apps in
            apps[call.app, default: AppBudgets()].admit(call, policy, at: clock.time)
        }
    }

    package func appleRefused(_ call: BudgetedCall, for duration: Duration) {
        guard duration > .zero else { return }
        let wait = min(duration, Self.longestBlock)
        shard(of: call.app).apps.withLock { apps in
            apps[call.app, default: AppBudgets()].block(
                BudgetKey(call), app: call.app, policy, until: clock.time.advanced(by: wait))
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
