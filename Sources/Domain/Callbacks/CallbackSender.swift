import Foundation
import Logging
import Synchronization

/// Sends what happens to those who subscribed to it: each callback reads on from its own place in the log of events, so that a
/// slow receiver delays nobody else.
///
/// Nothing is known here that the store does not know: what was sent when the process ends is sent again.
package final class CallbackSender: Sendable {
    /// The longest time without a look at a callback.
    private static let longestPause = Duration.seconds(3600)
    /// The wait after the store failed, and while sending is held.
    private static let storePause = Duration.seconds(5)
    /// How many lanes of one callback are sent at the same time.
    static let lanes = 4
    /// After so many events that concern nobody the place is kept.
    private static let keptDistance: Int64 = 1000

    /// What is known of a callback while the process runs.
    private struct Course {
        let app: String
        /// Whether somebody works on it.
        var isRunning = false
        /// Whether there may be something new.
        var isDirty = true
        var nextLook: ContinuousClock.Instant?
        /// Until when its receiver has asked to be left alone; a restart forgets it, as it is short.
        var restsUntil: ContinuousClock.Instant?
        /// How far it has looked, and when the store was last told.
        var place: CallbackPlace?
        var keptAt: ContinuousClock.Instant
    }

    private struct State {
        var courses: [String: Course] = [:]
        var outages: [String: Outage] = [:]
        /// Whether the list of callbacks must be read anew.
        var isStale = true
        var hasNews = true
        /// Up to which event every callback's app was told; nil: nobody knows.
        var told: Int64?
    }

    private let store: any CallbackStore
    private let events: any EventStore
    private let changes: ChangeSignal
    private let poster: CallbackPoster
    private let retries: CallbackRetries
    private let clock: ServiceClock
    private let logger: Logger
    private let signal = WakeSignal()
    private let state = Mutex(State())

    init(
        store: any CallbackStore, events: any EventStore, changes: ChangeSignal, poster: CallbackPoster,
        retries: CallbackRetries, clock: ServiceClock, logger: Logger
    ) {
        self.store = store
        self.events = events
        self.changes = changes
        self.poster = poster
        self.retries = retries
        self.clock = clock
        self.logger = logger
    }

    /// Tells that a callback came, went or was changed; nil: that all are to be looked at, as sending is held no more.
    package func changed(_ id: String?) {
        state.withLock { state in
            state.isStale = true
            for other in state.courses.keys where id == nil || other == id { state.courses[other]?.isDirty = true }
            // Its owner may have mended the receiver, or named another.
            if let id { state.courses[id]?.restsUntil = nil }
        }
        signal.wake()
    }

    /// Looks which callbacks there are, as another copy of the daemon may have added one; cheap.
    package func lookAgain() {
        state.withLock { $0.isStale = true }
        signal.wake()
    }

    /// Sends until its task is cancelled; what it knew before, another copy of the daemon may have changed meanwhile.
    ///
    /// `lease`: nothing goes out after its end.
    package func run(under lease: DutyLease) async {
        state.withLock { $0 = State(outages: $0.outages) }
        await withDiscardingTaskGroup { group in
            group.addTask { [changes, signal] in
                // Without a callback a commit need not wake this task: one that is added reads the log by itself.
                for await _ in changes.signals(while: { self.state.withLock { !$0.courses.isEmpty } }) {
                    self.state.withLock { $0.hasNews = true }
                    signal.wake()
                }
            }
            while !Task.isCancelled {
                let isWell = await look()
                for id in takeDue() { group.addTask { await self.work(on: id, under: lease) } }
                await signal.wait(atMost: isWell ? timeToWait() : Self.storePause, by: clock)
            }
        }
    }

    // MARK: Who has something to do

    /// Brings the list of callbacks up to date, and marks those whose app has news; false when the store failed.
    private func look() async -> Bool {
        let (isStale, hasNews) = state.withLock { state in
            defer { (state.isStale, state.hasNews) = (false, false) }
            return (state.isStale, state.hasNews)
        }
        do throws(ServiceError) {
            if isStale { take(try await store.activeCallbacks()) }
            if hasNews { try await readNews() }
            return true
        } catch {
            state.withLock { state in
                state.isStale = state.isStale || isStale
                state.hasNews = state.hasNews || hasNews
                state.told = nil
            }
            return false
        }
    }

    private func take(_ active: [(id: String, app: String)]) {
        let now = clock.monotonicNow()
        state.withLock { state in
            let known = state.courses
            // One that somebody works on is known until that ends.
            state.courses = known.filter { $0.value.isRunning }
            for (id, app) in active { state.courses[id] = known[id] ?? Course(app: app, keptAt: now) }
            state.outages = state.outages.filter { outage in active.contains { $0.id == outage.key } }
        }
    }

    /// Marks the callbacks of apps in which something happened.
    private func readNews() async throws(ServiceError) {
        guard state.withLock({ !$0.courses.isEmpty }) else { return state.withLock { $0.told = nil } }
        guard var told = state.withLock(\.told) else {
            let latest = try await events.eventBounds().latest
            return state.withLock { state in
                state.told = latest
                for id in state.courses.keys { state.courses[id]?.isDirty = true }
            }
        }
        while true {
            let events = try await events.events(after: told, limit: EventFeed.maximumPageSize)
            guard let last = events.last else { return }
            told = last.position
            let apps = Set(events.map(\.app))
            state.withLock { state in
                state.told = told
                for (id, course) in state.courses where apps.contains(course.app) { state.courses[id]?.isDirty = true }
            }
        }
    }

    /// The callbacks to work on now, marked as being worked on.
    private func takeDue() -> [String] {
        let now = clock.monotonicNow()
        return state.withLock { state in
            let due = state.courses.filter { _, course in
                !course.isRunning && (course.isDirty || course.nextLook.map { $0 <= now } ?? false)
            }
            for id in due.keys {
                state.courses[id]?.isRunning = true
                state.courses[id]?.isDirty = false
                state.courses[id]?.nextLook = nil
            }
            return Array(due.keys)
        }
    }

    private func timeToWait() -> Duration {
        let next = state.withLock { $0.courses.values.compactMap { $0.isRunning ? nil : $0.nextLook }.min() }
        return next.map { max(.zero, clock.remaining(until: $0)) } ?? Self.longestPause
    }

    // MARK: One callback

    /// Works on a callback until nothing of it is due, and notes when to look again.
    private func work(on id: String, under lease: DutyLease) async {
        var pause = Self.longestPause
        do throws(ServiceError) {
            pause = try await send(id, under: lease)
        } catch {
            pause = Self.storePause
        }
        let next = clock.monotonicNow().advanced(by: min(pause, Self.longestPause))
        state.withLock { state in
            state.courses[id]?.isRunning = false
            state.courses[id]?.nextLook = next
        }
        signal.wake()
    }

    /// Sends what is due.
    ///
    /// - Returns: how long to wait.
    /// - Throws: `storeUnavailable`.
    private func send(_ id: String, under lease: DutyLease) async throws(ServiceError) -> Duration {
        while !Task.isCancelled {
            guard lease.lasts(at: clock.monotonicNow()) else { return Self.storePause }
            if let rest = rest(of: id) { return rest }
            let place = state.withLock { $0.courses[id]?.place }
            guard let work = try await store.callbackWork(id: id, behind: place, at: clock.now()) else {
                forget(id)
                return Self.longestPause
            }
            if work.isHeld { return Self.storePause }
            let now = clock.now()
            let plan = CallbackPlan(work, at: now, longestPause: retries.longestPause)
            var round = CallbackRound(
                id: id, revision: work.callback.revision, position: work.scanned, at: now)
            round.hasMissedEvents = work.hasMissedEvents
            round.waiting = plan.blocked
            guard !plan.isEmpty else {
                advance(id, to: work)
                if work.hasMore { continue }
                try await keepPlace(work, round)
                return plan.nextDue.map { max(.milliseconds(10), clock.remaining(until: $0)) } ?? Self.longestPause
            }
            if try await conclude(await results(of: plan, work, lease), work, round) { advance(id, to: work) }
        }
        return .zero
    }

    private func advance(_ id: String, to work: CallbackWork) {
        state.withLock {
            $0.courses[id]?.place = CallbackPlace(revision: work.callback.revision, position: work.scanned)
        }
    }

    private func forget(_ id: String) {
        state.withLock { state in
            if state.courses[id]?.isDirty != true { state.courses[id] = nil }
            state.isStale = true
            state.outages[id] = nil
        }
    }

    /// Keeps a place that has moved past events which concern nobody, now and then.
    private func keepPlace(_ work: CallbackWork, _ round: CallbackRound) async throws(ServiceError) {
        let (distance, now) = (work.scanned - work.callback.position, clock.monotonicNow())
        let isOld = state.withLock {
            $0.courses[round.id].map { $0.keptAt.duration(to: now) >= Self.longestPause } ?? false
        }
        let isNewlyMissed = work.hasMissedEvents && !work.callback.hasMissedEvents
        guard isNewlyMissed || distance >= Self.keptDistance || (distance > 0 && isOld) else { return }
        _ = try await store.concludeCallbackRound(round)
        state.withLock { $0.courses[round.id]?.keptAt = now }
    }

    /// What became of an item.
    private struct Result: Sendable {
        let item: CallbackPlan.Item
        /// Nil when it was not tried, as one before it failed, or the service stops.
        let outcome: CallbackPoster.Outcome?
    }

    private func results(of plan: CallbackPlan, _ work: CallbackWork, _ lease: DutyLease) async -> [Result] {
        await withTaskGroup(of: [Result].self) { group in
            var results: [Result] = []
            for (number, lane) in plan.lanes.enumerated() {
                if number >= Self.lanes, let lane = await group.next() { results += lane }
                group.addTask { await self.send(lane, work, lease) }
            }
            for await lane in group { results += lane }
            return results
        }
    }

    /// Sends a lane's events one after the other, up to the first that fails.
    private func send(_ lane: [CallbackPlan.Item], _ work: CallbackWork, _ lease: DutyLease) async -> [Result] {
        var results: [Result] = []
        var isOpen = true
        for item in lane {
            guard isOpen, rest(of: work.callback.id) == nil else {
                results.append(Result(item: item, outcome: nil))
                continue
            }
            let outcome = await post(item.entry, work, lease)
            switch outcome {
            case .tried(let attempt, let asked):
                isOpen = attempt.failure == nil
                if let asked { leaveAlone(work.callback.id, for: asked) }
            case .nothing: break
            case .cancelled: isOpen = false
            }
            results.append(Result(item: item, outcome: outcome))
        }
        return results
    }

    private func post(
        _ entry: CallbackEntry, _ work: CallbackWork, _ lease: DutyLease
    ) async -> CallbackPoster.Outcome {
        guard let event = entry.event?.event else { return .nothing }
        return await poster.post(
            event, to: work.callback, epoch: work.epoch, signedBy: work.secrets, latestStart: lease.end)
    }

    /// Sends a receiver nothing for as long as it asks for, within our bound.
    private func leaveAlone(_ id: String, for asked: Duration) {
        let until = clock.monotonicNow().advanced(by: min(asked, retries.longestAsked))
        state.withLock { state in
            let known = state.courses[id]?.restsUntil
            state.courses[id]?.restsUntil = known.map { max($0, until) } ?? until
        }
    }

    /// For how long a receiver is to be left alone from now on; nil when it is not.
    private func rest(of id: String) -> Duration? {
        guard let until = state.withLock({ $0.courses[id]?.restsUntil }) else { return nil }
        let rest = clock.remaining(until: until)
        return rest > .zero ? rest : nil
    }

    // MARK: What became of it

    /// Keeps what became of a round; false when the callback has changed meanwhile.
    private func conclude(
        _ results: [Result], _ work: CallbackWork, _ begun: CallbackRound
    ) async throws(ServiceError) -> Bool {
        var round = begun
        for result in results { add(result, to: &round) }
        tell(work, round)
        let concluded = round
        // Also when the service stops: what was received is not sent again.
        let kept = await Task { [store] () async -> Swift.Result<Bool, ServiceError> in
            do throws(ServiceError) {
                return .success(try await store.concludeCallbackRound(concluded))
            } catch {
                return .failure(error)
            }
        }.value
        let isKept = try kept.get()
        if isKept, let reason = round.pause { tellPause(work.callback, reason, round) }
        return isKept
    }

    private func add(_ result: Result, to round: inout CallbackRound) {
        var entry = result.item.entry
        switch result.outcome {
        case .nothing: round.done.append(entry.position)
        case .cancelled, nil: round.waiting.append(entry)
        case .tried(let attempt, let asked):
            round.attempts.append(attempt)
            guard attempt.failure != nil else { return round.done.append(entry.position) }
            let now = clock.now()
            entry.attempts += 1
            let first = entry.firstFailedAt ?? now
            entry.firstFailedAt = first
            entry.nextAttemptAt = retries.nextAttempt(after: entry.attempts, since: first, asked: asked, at: now)
            round.waiting.append(entry)
            if attempt.status == CallbackPoster.goneStatus {
                round.pause = .gone
            } else if clock.hasPassed(first.advanced(by: retries.lifetime)) {
                round.pause = round.pause ?? .failing
            }
        }
    }

    /// One line when a receiver begins to fail, and one when it is well again.
    private func tell(_ work: CallbackWork, _ round: CallbackRound) {
        let callback = work.callback
        guard !round.attempts.isEmpty else { return }
        let outage = state.withLock { state in
            if let outage = state.outages[callback.id] { return outage }
            var logger = logger
            logger[metadataKey: "app"] = "\(callback.app)"
            logger[metadataKey: "callback"] = "\(callback.id)"
            logger[metadataKey: "host"] = "\(callback.url.host)"
            let outage = Outage(
                "A callback's receiver fails: what it is told waits and is sent again",
                ended: "A callback's receiver takes everything again", logger: logger)
            state.outages[callback.id] = outage
            return outage
        }
        if let failure = round.attempts.compactMap(\.failure).first { return outage.failed(failure) }
        // What still waits for its time has not been taken.
        let stillFails = work.waiting.contains { $0.firstFailedAt != nil && !round.done.contains($0.position) }
        if !stillFails { outage.succeeded() }
    }

    private func tellPause(_ callback: Callback, _ reason: Callback.PauseReason, _ round: CallbackRound) {
        logger.error(
            "A callback is paused: nothing is sent to it until its owner sets its state to `active`",
            metadata: [
                "app": "\(callback.app)", "callback": "\(callback.id)", "host": "\(callback.url.host)",
                "reason": "\(reason.rawValue)",
                "cause": "\(round.attempts.compactMap(\.failure).first ?? "")",
            ])
    }
}
