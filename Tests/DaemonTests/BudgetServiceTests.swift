import CoreMetrics
import Domain
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// The budgets as the daemon runs them: saved at intervals and at the end, counted when they refuse.
struct BudgetServiceTests {
    private let call = BudgetedCall(
        app: "coins", endpoint: "Get Refund History", environment: .production, caller: "shop", priority: .interactive)
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func budgets(_ callsPerHour: Int) -> RateBudgets {
        // Both clocks stand still: were one to go on, the calls would belong to other minutes when the machine is slow.
        let start = ContinuousClock.now
        return RateBudgets(
            policy: RatePolicy(
                limits: [.production: ["Get Refund History": RateLimit(callsPerHour: callsPerHour)]],
                callers: ["coins": 1]),
            clock: BudgetClock(now: { Date(timeIntervalSince1970: 1_700_000_000) }, monotonicNow: { start }))
    }

    private func saved(in store: InMemoryBudgetStore) async throws -> Int {
        try await store.budgetRecords(of: 0 ... .max).reduce(0) { $0 + $1.calls }
    }

    @Test func `what is used is saved at intervals, and a last time at the end`() async throws {
        let (store, clock, budgets) = (InMemoryBudgetStore(), ManualClock(), budgets(100))
        let service = PeriodicService.budgets(
            BudgetCheckpoint(budgets: budgets, store: store), clock: clock, logger: logger)
        let group = ServiceGroup(services: [service], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await clock.sleeperHasArrived()
            #expect(budgets.admit(call) == .admitted)
            clock.advance(by: .seconds(60))
            // It sleeps again when it has saved.
            await clock.sleeperHasArrived()
            #expect(try await saved(in: store) == 1)
            // What cannot be saved must not end the service.
            await store.fail(with: ServiceError(.storeUnavailable, "Full."))
            #expect(budgets.admit(call) == .admitted)
            clock.advance(by: .seconds(60))
            await clock.sleeperHasArrived()
            await store.fail(with: nil)
            #expect(try await saved(in: store) == 1)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(try await saved(in: store) == 2)
    }

    @Test func `what answers have told of identifiers is saved at intervals, and a last time at the end`() async throws
    {
        let clock = ManualClock()
        let saves = Mutex(0)
        let service = PeriodicService.memory(clock: clock) { saves.withLock { $0 += 1 } }
        let group = ServiceGroup(services: [service], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for count in 0..<3 {
                await clock.sleeperHasArrived()
                #expect(saves.withLock(\.self) == count)
                clock.advance(by: .seconds(1))
            }
            await clock.sleeperHasArrived()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(saves.withLock(\.self) == 4)
    }

    @Test func `refusals are counted by cause`() {
        let registry = PrometheusRegistry(help: MetricsHelp.texts)
        let metered = MeteredBudget(budgets(2), metrics: registry)
        for _ in 0..<5 { _ = metered.admit(call) }
        metered.appleRefused(call, for: .seconds(3600 * 2))
        _ = metered.admit(call)
        let text = registry.render()
        let counts = text.split(separator: "\n").filter { $0.hasPrefix("purser_budget_refusals") }
        #expect(counts.contains { $0.contains("cause=\"exhausted\"") && $0.hasSuffix(" 3") }, "\(text)")
        #expect(counts.contains { $0.contains("cause=\"apple\"") && $0.hasSuffix(" 1") }, "\(text)")
    }
}
