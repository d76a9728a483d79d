package import Foundation
import Synchronization

/// What is left of an app's limits, and who used it.
package struct LimitsReport: Sendable, Equatable {
    /// One endpoint in one environment.
    package struct Endpoint: Sendable, Equatable {
        /// The title of Apple's page for the call.
        package let name: String
        package let environment: AppStoreEnvironment
        /// Nil where calls are only counted.
        package let limit: RateLimit?
        /// Calls of the last hour, all callers together.
        package let used: Int
        /// How many more there is room for, all callers together, what is reserved aside; nil without a limit.
        package let remaining: Int?
        /// How many the caller who asks could still make at once; nil without a limit.
        package let remainingForCaller: Int?
        /// Until when Apple has asked to wait.
        package let blockedUntil: Date?
        /// By name in ascending order.
        package let callers: [Caller]
    }

    /// What one caller used of an endpoint in the last hour.
    package struct Caller: Sendable, Equatable {
        /// Empty for our own work.
        package let name: String
        package let interactive: Int
        package let deadlineBound: Int
    }

    /// What a caller has used of its own quota, all endpoints and environments together.
    package struct Quota: Sendable, Equatable {
        package let caller: String
        package let callsPerHour: Int
        package let used: Int
    }

    /// By name, then environment, in ascending order: each that has a limit or was used in the last hour.
    package let endpoints: [Endpoint]
    /// Of the caller who asks and of those who used theirs in the last hour, by name in ascending order.
    package let quotas: [Quota]
}

extension RateBudgets {
    /// What is left of each limit that was used in the last hour, all callers together, what is reserved aside.
    package var remaining: [(app: String, environment: AppStoreEnvironment, endpoint: String, calls: Int)] {
        shards.flatMap { shard in
            shard.apps.withLock { apps in
                for slug in apps.keys { apps[slug]?.sweep(at: clock.time) }
                return apps.flatMap { slug, app in
                    app.budgets.compactMap { key, budget in
                        budget.remaining.map { (slug, key.environment, key.endpoint, $0) }
                    }
                }
            }
        }
    }

    /// How an app's budgets stand, as a caller sees them.
    package func report(on app: App, for caller: String) -> LimitsReport {
        let budgets = shard(of: app.slug).apps.withLock { apps in
            apps[app.slug]?.sweep(at: clock.time)
            return apps[app.slug] ?? AppBudgets()
        }
        let limited = app.environments.flatMap { environment in
            (policy.limits[environment] ?? [:]).keys.map { BudgetKey(endpoint: $0, environment: environment) }
        }
        let keys = Set(limited).union(budgets.budgets.keys).sorted {
            ($0.endpoint, $0.environment.rawValue) < ($1.endpoint, $1.environment.rawValue)
        }
        return LimitsReport(
            endpoints: keys.map { key in
                endpoint(key, budgets.budgets[key] ?? policy.budget(key, app: app.slug), for: caller)
            },
            quotas: policy.quotas.sorted { $0.key < $1.key }.compactMap { name, quota in
                let used = budgets.quotaUse[name]?.total ?? 0
                guard used > 0 || name == caller else { return nil }
                return LimitsReport.Quota(caller: name, callsPerHour: quota, used: used)
            })
    }

    private func endpoint(_ key: BudgetKey, _ budget: RateBudget, for caller: String) -> LimitsReport.Endpoint {
        let names = Set(budget.interactive.callers.keys).union(budget.deadlineBound.callers.keys)
        return LimitsReport.Endpoint(
            name: key.endpoint, environment: key.environment, limit: budget.limit, used: budget.total,
            remaining: budget.remaining, remainingForCaller: budget.remaining(for: caller),
            blockedUntil: budget.blockedUntil.map(clock.date(of:)),
            callers: names.subtracting([BudgetedCall.lost]).sorted().map { name in
                LimitsReport.Caller(
                    name: name, interactive: budget.interactive.callers[name]?.total ?? 0,
                    deadlineBound: budget.deadlineBound.callers[name]?.total ?? 0)
            })
    }
}
