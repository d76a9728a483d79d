import Domain
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// What is over is removed in small batches, round by round.
struct RetentionServiceTests {
    /// A store of so many old events.
    private final class OldEvents: StoreMaintenance {
        struct Batch: Equatable {
            let policy: RetentionPolicy
            let at: Date
            let limit: Int
        }

        private let left: Mutex<Int>
        private let batches = Mutex<[Batch]>([])
        private let isBroken = Mutex(false)

        init(_ count: Int) { left = Mutex(count) }

        var asked: [Batch] { batches.withLock(\.self) }
        var remaining: Int { left.withLock(\.self) }

        func fail(_ fails: Bool) { isBroken.withLock { $0 = fails } }

        func refreshOwners(limit: Int) async throws(ServiceError) -> Bool { false }

        func enforceRetention(
            _ policy: RetentionPolicy, at now: Date, limit: Int
        ) async throws(ServiceError) -> RetentionResult {
            batches.withLock { $0.append(Batch(policy: policy, at: now, limit: limit)) }
            if isBroken.withLock(\.self) { throw ServiceError(.storeUnavailable, "Full.") }
            var result = RetentionResult()
            result.events = left.withLock { left in
                let removed = min(left, limit)
                left -= removed
                return removed
            }
            return result
        }

        func backup(to path: String, at now: Date) async throws(ServiceError) {}
        func checkIntegrity() async throws(ServiceError) -> [String] { [] }
    }

    @Test func `batch follows batch until nothing is left, and the next round comes after the interval`() async throws {
        let (store, clock) = (OldEvents(1200), ManualClock())
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var policy = RetentionPolicy()
        policy.events = .seconds(86_400)
        let round = RetentionRound(
            store: store, policy: policy, pause: .seconds(1), time: ServiceClock(now: { now }), clock: clock,
            logger: logger)
        let service = PeriodicService(every: .seconds(3600), also: .first, clock: clock, work: round.run)
        let group = ServiceGroup(services: [service], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for remaining in [700, 200, 0] {
                await clock.sleeperHasArrived()
                #expect(store.remaining == remaining)
                clock.advance(by: .seconds(1))
            }
            // Nothing is left: the next sleep is that to the next round.
            await clock.sleeperHasArrived()
            #expect(store.asked.count == 4)
            let batch = OldEvents.Batch(policy: policy, at: now, limit: 500)
            #expect(store.asked.allSatisfy { $0 == batch })
            // What fails ends the round, not the service.
            store.fail(true)
            clock.advance(by: .seconds(3600))
            await clock.sleeperHasArrived()
            #expect(store.asked.count == 5)
            store.fail(false)
            clock.advance(by: .seconds(3600))
            await clock.sleeperHasArrived()
            #expect(store.asked.count == 6)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}
