import Foundation
package import Logging
import Synchronization

/// Sends deliveries: claims what is due and lets each be attempted, a bounded number at a time, until it is told to stop.
///
/// Every way out to Apple ends here, whichever way an answer came in, so that there is one gate (`DeliveryAttemptRunner`).
package final class DeliveryDispatcher: Sendable {
    /// Where the loop stands.
    private struct Round {
        /// Where the next look at what is due goes on; nil begins anew.
        var position: DeliveryClaim.Position?
        /// When claims of workers that are no more are looked for next.
        var recovery: ContinuousClock.Instant
        /// Whether a claim failed in such a way that it may have been committed all the same.
        var mayHaveClaimed = false
        /// What the time of day was when the dispatcher was made, by the clock as it was at the last look.
        var origin: Date?
        /// How often the store has failed without a success between.
        var storeFailures = 0
        /// How many app environments the last look had to go through one by one.
        var appEnvironments = 0

        /// The rest after a look through thousands of app environments, as happens while most of them rest themselves: in proportion to
        /// what it cost, so that whoever asks for something meanwhile is served.
        var rest: Duration { min(.microseconds(25) * appEnvironments, .seconds(1)) }
    }

    private struct State {
        /// Claimed, and what became of it not recorded yet.
        var underWay = 0
        var isStopping = false
        var appEnvironments = PausedAppEnvironments()
        var doubtful = DoubtfulDeliveries()
        /// What the store would not record.
        var pending: [(transfer: InFlightDelivery, conclusion: DeliveryConclusion)] = []
    }

    /// How many deliveries are expired in one operation.
    private static let expiryBatch = 100
    /// How many deliveries are made due in one operation, after a clock was put right.
    private static let hasteBatch = 1000
    /// A look through no more app environments than this costs next to nothing.
    private static let appEnvironmentsWithoutRest = 100
    /// How often claims whose lease is over are looked for where several copies make them.
    private static let sharedRecovery = Duration.seconds(5)
    /// How soon what the store would not record is tried again.
    private static let pendingPause = Duration.seconds(1)

    private let store: any DeliveryStore
    private let claims: any DeliveryClaimStore
    private let transfers: InFlightDeliveries
    private let waiters: DeliveryWaiters
    private let clock: ServiceClock
    private let policy: DispatchPolicy
    private let logger: Logger
    private let worker: String
    private let start: ContinuousClock.Instant
    private let runner: DeliveryAttemptRunner
    private let loopHeartbeat = LoopHeartbeat()
    private let state = Mutex(State())
    private let signal = WakeSignal()

    /// - Parameters:
    ///   - store: keeps the deliveries, and is the gate.
    ///   - claims: knows what copies of the daemon have claimed.
    ///   - links: tells whose purchases are.
    ///   - gateway: the way to Apple.
    ///   - apps: whose deliveries are sent.
    ///   - ending: what is being handed to Apple, for those who take answers back, and those who wait for what becomes of a
    ///     delivery.
    ///   - clock: the clocks.
    ///   - policy: the limits within which deliveries are sent.
    ///   - worker: names this process for as long as it runs.
    ///   - logger: where trouble is told.
    package init(
        store: any DeliveryStore, claims: any DeliveryClaimStore, links: any LinkStore, gateway: any AppStoreGateway,
        apps: AppCatalog,
        ending: DeliveryEnding, clock: ServiceClock,
        policy: DispatchPolicy, worker: String, logger: Logger
    ) {
        self.store = store
        self.claims = claims
        transfers = ending.transfers
        waiters = ending.waiters
        self.clock = clock
        self.policy = policy
        self.worker = worker
        self.logger = logger
        start = clock.monotonicNow()
        runner = DeliveryAttemptRunner(
            store: store, claims: claims, ending: ending, links: links,
            gateway: gateway, apps: apps, clock: clock, policy: policy, worker: worker,
            logger: logger)
    }

    /// Sends what is due until the task is cancelled, and lets what is under way then end; to be called once.
    package func run() async {
        // A task of its own, so that what is under way is not cancelled too.
        let loop = Task { await dispatch() }
        await withTaskCancellationHandler {
            await loop.value
        } onCancel: {
            state.withLock { $0.isStopping = true }
            kick()
        }
    }

    /// Lets the loop look at what is due; quick, and several calls may count as one.
    package func kick() { signal.wake() }

    /// Lets the loop look at a delivery that was accepted, unless that would be in vain.
    package func kick(for delivery: Delivery) {
        if !clock.isCertain { state.withLock { $0.doubtful.note(delivery, origin: origin(at: clock.now())) } }
        if !isLookInVain(for: delivery) { kick() }
    }

    /// Whether the loop need not look at a new delivery now: its app environment rests or nothing more can be sent, and the loop looks by
    /// itself when that is over.
    func isLookInVain(for delivery: Delivery) -> Bool {
        let appEnvironment = AppEnvironment(app: delivery.app, environment: delivery.environment)
        let instant = clock.monotonicNow()
        let canBeSent = state.withLock { state in
            state.underWay < policy.concurrency && !state.appEnvironments.isPaused(appEnvironment, at: instant)
        }
        // The loop must hear of a deadline that it would sleep through.
        return !canBeSent && clock.remaining(until: delivery.deadline) > policy.longestPause
    }

    /// Waits until the loop turns, which shows that it does; for a watchdog.
    ///
    /// Returns at once while the loop waits for the store, whose own heartbeat tells of it.
    package func heartbeat() async {
        guard let turn = loopHeartbeat.nextTurn() else { return }
        kick()
        for await _ in turn {}
    }

    private var isStopping: Bool { state.withLock(\.isStopping) }

    private func dispatch() async {
        await withDiscardingTaskGroup { group in
            var round = Round(recovery: clock.monotonicNow())
            while !isStopping {
                loopHeartbeat.turned()
                let pause = await turn(&round) { transfer in group.addTask { await self.attempt(transfer) } }
                if round.appEnvironments > Self.appEnvironmentsWithoutRest { try? await clock.sleep(round.rest) }
                await signal.wait(atMost: pause, by: clock)
            }
            loopHeartbeat.ended()
        }
        await settlePending()
    }
}

// MARK: The loop

extension DeliveryDispatcher {
    /// Looks at the store once.
    ///
    /// - Returns: how long the loop can wait if nobody kicks it.
    private func turn(_ round: inout Round, _ start: (InFlightDelivery) -> Void) async -> Duration {
        do throws(ServiceError) {
            let pause = try await look(&round, start)
            if round.storeFailures > 0 { logger.notice("Deliveries can be read and recorded again") }
            round.storeFailures = 0
            return pause
        } catch {
            if round.storeFailures == 0 {
                logger.error(
                    "Deliveries cannot be read or recorded; nothing is sent until they can",
                    metadata: ["cause": "\(error.cause ?? error.message)"])
            }
            round.storeFailures += 1
            return min(.milliseconds(100) * (1 << min(round.storeFailures, 10)), .seconds(10))
        }
    }

    private func look(_ round: inout Round, _ start: (InFlightDelivery) -> Void) async throws(ServiceError) -> Duration
    {
        // What Apple has accepted must be recorded before anything is taken for interrupted or expired.
        await loopHeartbeat.inStore { await settlePending() }
        let isSettled = state.withLock(\.pending.isEmpty)
        let now = clock.now()
        // Nothing is sent too late, and nothing ends too early, because of a clock that is wrong: see `ClockWatch`, which
        // kicks when the time is certain.
        guard clock.isCertain else {
            return state.withLock(\.pending.isEmpty) ? policy.longestPause : Self.pendingPause
        }
        try await correctTimes(&round, at: now)
        if isSettled { try await recover(&round) }
        try await returnUnknownClaims(&round)
        try await claim(at: now, &round, start)
        if isSettled { try await expire(at: now) }
        let next = try await loopHeartbeat.inStore { () throws(ServiceError) in
            try await store.nextDeliveryEvent(after: now)
        }
        var pause = policy.longestPause
        if let next { pause = min(pause, clock.remaining(until: next)) }
        let (appEnvironments, hasPending) = state.withLock { ($0.appEnvironments, !$0.pending.isEmpty) }
        if let end = appEnvironments.nextEnd { pause = min(pause, clock.remaining(until: end)) }
        if hasPending { pause = min(pause, Self.pendingPause) }
        return max(min(pause, clock.remaining(until: round.recovery)), .milliseconds(1))
    }

    /// Puts right, after each correction of the clock, what was written by the wrong one: a deadline that it set would be none,
    /// and an attempt that it put off would come too late.
    private func correctTimes(_ round: inout Round, at now: Date) async throws(ServiceError) {
        let (before, origin) = (round.origin, origin(at: now))
        guard before.map({ abs(origin.timeIntervalSince($0)) > SteadyClock.tolerance }) ?? true else { return }
        let shifts = state.withLock { $0.doubtful.shifts(origin: origin) }
        try await loopHeartbeat.inStore { () throws(ServiceError) in
            if !shifts.isEmpty { try await store.moveDeliveries(shifts, at: now) }
            // While the time is in doubt no attempt is put off; only a clock that was taken for right can have done that.
            guard let before, origin < before else { return }
            // No wait of our own is longer, and one that Apple or a budget asks for is known to the budgets.
            let latest = now.advanced(by: policy.backoff.cap)
            while try await store.hastenDeliveries(after: latest, at: now, limit: Self.hasteBatch) == Self.hasteBatch {}
        }
        state.withLock { $0.doubtful = DoubtfulDeliveries() }
        round.origin = origin
    }

    private func origin(at now: Date) -> Date {
        now.addingTimeInterval(-(start.duration(to: clock.monotonicNow()) / .seconds(1)))
    }

    /// Gives back, at first and now and then, what was claimed by workers that are no more.
    private func recover(_ round: inout Round) async throws(ServiceError) {
        guard clock.remaining(until: round.recovery) <= .zero else { return }
        let count = try await loopHeartbeat.inStore { () throws(ServiceError) in
            try await store.recoverDeliveries(worker: worker, at: clock.now())
        }
        if count > 0 {
            logger.notice(
                "Deliveries whose attempt was interrupted are queued again",
                metadata: ["count": .stringConvertible(count)])
        }
        round.recovery = clock.monotonicNow() + (claims.isShared ? Self.sharedRecovery : policy.lease)
    }

    /// Gives back what was claimed without our knowing, as when the connection ended with the commit: nothing of it was sent.
    private func returnUnknownClaims(_ round: inout Round) async throws(ServiceError) {
        guard round.mayHaveClaimed else { return }
        // In this order: what goes from the one to the other is in both meanwhile.
        let underWay = transfers.ids
        let known = state.withLock { underWay.union($0.pending.map(\.conclusion.id)) }
        try await loopHeartbeat.inStore { () throws(ServiceError) in
            try await claims.returnClaims(of: worker, except: known, at: clock.now())
        }
        round.mayHaveClaimed = false
    }

    private func expire(at now: Date) async throws(ServiceError) {
        var expired: [Delivery]
        repeat {
            expired = try await loopHeartbeat.inStore { () throws(ServiceError) in
                try await store.expireDeliveries(at: now, limit: Self.expiryBatch)
            }
            expired.forEach(waiters.post)
        } while expired.count == Self.expiryBatch && !isStopping
    }

    /// Claims what is due as far as there is room: from where the last look ended to the end, then once from the start.
    private func claim(
        at now: Date, _ round: inout Round, _ start: (InFlightDelivery) -> Void
    ) async throws(ServiceError) {
        var isFromStart = round.position == nil
        round.appEnvironments = 0
        while !isStopping {
            let instant = clock.monotonicNow()
            let (underWay, skipping) = state.withLock { ($0.underWay, $0.appEnvironments.paused(at: instant)) }
            guard underWay < policy.concurrency else {
                // Where no app environment rests, the look begins anew: the soonest deadline comes first.
                if skipping.isEmpty { round.position = nil }
                return
            }
            let claim = DeliveryClaim(
                worker: worker, now: now, lease: policy.lease, limit: policy.concurrency - underWay, skipping: skipping,
                after: round.position)
            round.mayHaveClaimed = true
            let (begun, claimed) = try await loopHeartbeat.inStore { () throws(ServiceError) in
                try await transfers.registering(
                    claim, endingAttempts: policy.end(ofAttempts: instant), in: store)
            }
            round.mayHaveClaimed = false
            state.withLock { $0.underWay += begun.count }
            begun.forEach(start)
            round.position = claimed.next
            round.appEnvironments += claimed.appEnvironments
            guard claimed.next == nil else { continue }
            guard !isFromStart else { return }
            isFromStart = true
        }
    }
}

// MARK: One delivery

extension DeliveryDispatcher {
    /// Makes one attempt, and records what became of it.
    private func attempt(_ transfer: InFlightDelivery) async {
        let conclusion = await runner.run(transfer)
        if let pause = conclusion.pause {
            let now = clock.monotonicNow()
            state.withLock { $0.appEnvironments.pause(pause.environment, for: pause.duration, from: now) }
        }
        do throws(ServiceError) {
            try await settle(transfer, conclusion)
        } catch {
            logger.error(
                "What became of a delivery cannot be recorded; it is tried until it can",
                metadata: ["delivery": "\(conclusion.id)", "cause": "\(error.cause ?? error.message)"])
            state.withLock { $0.pending.append((transfer, conclusion)) }
            // Nothing of it is sent any more, and whoever waits for that need not wait for the disk.
            transfers.end(transfer, as: conclusion.unrecorded(transfer.delivery))
            kick()
        }
    }

    /// Records what became of a delivery, tells those who wait, and makes room for the next.
    private func settle(_ transfer: InFlightDelivery, _ conclusion: DeliveryConclusion) async throws(ServiceError) {
        let concluded = try await store.conclude(conclusion)
        let delivery = concluded.map(conclusion.completed) ?? conclusion.unrecorded(transfer.delivery)
        transfers.end(transfer, as: delivery)
        let isAccepted = conclusion.outcome == .accepted
        if concluded == nil {
            logger.error(
                "A delivery was claimed by somebody else while it was attempted",
                metadata: ["delivery": "\(delivery.id)", "accepted": .stringConvertible(isAccepted)])
        }
        if concluded != nil { waiters.post(delivery) }
        state.withLock { $0.underWay -= 1 }
        kick()
    }

    /// Tries once more to record what the store would not.
    private func settlePending() async {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for (transfer, conclusion) in pending {
            do throws(ServiceError) {
                try await settle(transfer, conclusion)
            } catch {
                state.withLock { $0.pending.append((transfer, conclusion)) }
            }
        }
    }
}
