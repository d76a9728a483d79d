import Domain
import Foundation
import Synchronization

/// Budgets on a time line that a test moves.
final class BudgetFixture: Sendable {
    static let endpoint = "Get Refund History"
    /// Seven seconds into a minute, so that no test leans on the beginning of one.
    static let start = Date(timeIntervalSince1970: 1_700_000_047)

    /// How long the budgets have been running.
    private let elapsed = Mutex(Duration.zero)
    /// By how much the time of day was corrected since.
    private let correction = Mutex(TimeInterval(0))
    private let origin = ContinuousClock.now

    /// A policy with one limit for the endpoint of these tests in production.
    static func policy(
        _ callsPerHour: Int, reservedPercent: Int = 0, callers: Int? = nil, quotas: [String: Int] = [:]
    ) -> RatePolicy {
        RatePolicy(
            limits: [
                .production: [endpoint: RateLimit(callsPerHour: callsPerHour, reservedPercent: reservedPercent)]
            ],
            quotas: quotas, callers: callers.map { ["coins": $0] } ?? [:])
    }

    static func call(
        _ caller: String = "shop", _ priority: CallPriority = .interactive, app: String = "coins",
        endpoint: String = BudgetFixture.endpoint, environment: AppStoreEnvironment = .production
    ) -> BudgetedCall {
        BudgetedCall(app: app, endpoint: endpoint, environment: environment, caller: caller, priority: priority)
    }

    var clock: BudgetClock {
        BudgetClock(
            now: { [self] in
                let seconds = elapsed.withLock { $0 } / .seconds(1) + correction.withLock { $0 }
                return Self.start.addingTimeInterval(seconds)
            },
            monotonicNow: { [self] in origin.advanced(by: elapsed.withLock { $0 }) })
    }

    /// Budgets whose time begins now.
    func budgets(_ policy: RatePolicy) -> RateBudgets { RateBudgets(policy: policy, clock: clock) }

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }

    /// Sets the time of day, and nothing else.
    func correctTimeOfDay(by seconds: TimeInterval) { correction.withLock { $0 += seconds } }
}

extension CallBudget {
    /// Makes a call over and over until it is refused; the number of calls admitted.
    func exhaust(_ call: BudgetedCall, atMost bound: Int = 1_000_000) -> Int {
        var admitted = 0
        while admitted < bound, admit(call) == .admitted { admitted += 1 }
        return admitted
    }

    /// Why a call is refused, and how long; the call is counted if it is not.
    func refusal(_ call: BudgetedCall) -> BudgetDecision.Refusal? {
        if case .refused(let refusal) = admit(call) { refusal } else { nil }
    }
}
