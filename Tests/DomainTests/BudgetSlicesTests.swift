import Domain
import Foundation
import Synchronization
import Testing

/// What a copy tells of budgets that it shares, where the store cannot be reached at first.
struct BudgetSlicesTests {
    /// Grants what is asked for, and fails as often as it is told to.
    private final class FlakyStore: SharedBudgetStore {
        private let state = Mutex((failures: 0, requests: [BudgetExchange.Request]()))

        /// All that was asked for, by whom it was answered or not.
        var requests: [BudgetExchange.Request] { state.withLock(\.requests) }

        func fail(_ times: Int) { state.withLock { $0.failures = times } }

        func exchangeBudgets(
            _ exchange: BudgetExchange
        ) async throws(ServiceError) -> (minute: Int, standings: [BudgetExchange.Standing]) {
            let fails = state.withLock { state in
                state.requests += exchange.requests
                defer { state.failures -= 1 }
                return state.failures > 0
            }
            if fails { throw ServiceError(.storeUnavailable, "The store is away.") }
            let standings = exchange.requests.map { request in
                BudgetExchange.Standing(
                    records: [], granted: Dictionary(uniqueKeysWithValues: request.wanted.map { ($0, 10) }),
                    blockedFor: nil)
            }
            return (0, standings)
        }

        func forgetOldBudgets() async throws(ServiceError) {}
    }

    private static let call = BudgetedCall(
        app: "coins", endpoint: "Get Refund History", environment: .production, caller: "shop",
        priority: .interactive)

    @Test func `what the store could not be told is told again: calls, and Apple's wish to wait`() async {
        let store = FlakyStore()
        let slices = BudgetSlices(copy: "one", store: store)
        let instant = ContinuousClock.now
        let budgets = RateBudgets(
            policy: RatePolicy(limits: [.production: [Self.call.endpoint: RateLimit(callsPerHour: 100)]]),
            clock: BudgetClock(now: { Date(timeIntervalSince1970: 1_700_000_000) }, monotonicNow: { instant }),
            slices: slices)
        await budgets.prepare(Self.call)
        #expect(budgets.admit(Self.call) == .admitted)
        budgets.appleRefused(Self.call, for: .seconds(90))
        store.fail(1)
        await slices.tick(budgets)
        await slices.tick(budgets)
        let told = store.requests.suffix(2)
        #expect(told.map(\.used) == [[Self.call: 1], [Self.call: 1]])
        #expect(told.map(\.blockedFor) == [.seconds(90), .seconds(90)])
        // Once is enough.
        let count = store.requests.count
        await slices.tick(budgets, isLast: true)
        #expect(store.requests.dropFirst(count).allSatisfy { $0.used.isEmpty && $0.blockedFor == nil })
    }
}
