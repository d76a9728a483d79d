/// Searches the histories of all apps in one of Apple's environments, a bounded number at a time, round after round.
///
/// One app's trouble holds up no other; Apple's holds up all of them, which then ask no more than is needed to see that it
/// is over.
struct EnvironmentHistorySearch: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How many apps are searched at the same time: ten thousand within five minutes, even if Apple takes a second.
    static let slots = 32
    /// The longest wait for budget or for Apple within a round; a longer one is left to the next.
    static let longestWait = Duration.seconds(120)
    /// How often a search is tried again after a failure that time may mend.
    static let maximumRetries = 3
    /// The wait before the first of these; each next one is twice as long.
    static let firstRetryPause = Duration.seconds(2)

    /// What a running round waits for.
    private enum Event: Sendable {
        /// A search has ended; whether it is complete.
        case ended(HistoryQueue.Item, AppHistorySearch, Result<Bool, ServiceError>)
        /// Something may be due.
        case timer(Instant)
    }

    private var apps: [App] = []
    private let plan: HistoryPlan
    private let dependencies: HistoryDependencies
    private var reporter: HistoryReporter
    private var outage = HistoryOutage()
    /// The apps whose rest the last round left undone.
    private var leftOver: [Int] = []
    /// Of those of which there is something to tell.
    private var outcomes: [Int: HistoryOutcome] = [:]

    init(plan: HistoryPlan, dependencies: HistoryDependencies, reporter: HistoryReporter) {
        self.plan = plan
        self.dependencies = dependencies
        self.reporter = reporter
    }

    /// Takes the apps to search from the next round on.
    mutating func take(_ apps: [App]) {
        guard apps != self.apps else { return }
        let numbers = Dictionary(apps.enumerated().map { ($1.slug, $0) }) { first, _ in first }
        leftOver = leftOver.compactMap { numbers[self.apps[$0].slug] }
        self.apps = apps
    }

    private var clock: ServiceClock { dependencies.clock }

    /// Searches every app's history once.
    ///
    /// - Parameters:
    ///   - end: when everything but the search for consumption requests is left to the next round.
    ///   - isRetrying: whether what did not verify, and could not be kept, is looked for again.
    /// - Returns: whether it got through, as far as time would mend what kept it from that.
    mutating func round(until end: Instant, isRetrying: Bool) async -> Bool {
        outcomes = [:]
        var queue = HistoryQueue(apps: apps.count, leftOver: leftOver)
        let early = Set(leftOver)
        leftOver = []
        await withTaskGroup(of: Event.self) { tasks in
            var running = 0
            var timer: Instant?
            while !Task.isCancelled {
                let now = clock.monotonicNow()
                let isOver = now >= end
                while running < outage.slots(at: now, of: Self.slots), let item = queue.next(at: now, isOver: isOver) {
                    running += 1
                    let search = item.attempt?.search ?? self.search(of: item, isRetrying: isRetrying)
                    tasks.addTask { await Self.run(search, item, until: end) }
                }
                if running == 0, queue.isEmpty(isOver: isOver) { break }
                if let due = wakeUp(for: queue, at: now, end: end), due < timer ?? due + .seconds(1) {
                    timer = due
                    tasks.addTask { [clock] in
                        try? await clock.sleep(max(clock.remaining(until: due), .zero))
                        return .timer(due)
                    }
                }
                switch await tasks.next() {
                case .ended(let item, var search, let result):
                    running -= 1
                    note(search.takeFindings(), of: item)
                    let wasEarly = item.part == .requests && early.contains(item.app)
                    handle(result, of: item, search, isRestQueued: wasEarly, &queue)
                case .timer(let due): timer = timer == due ? nil : timer
                case nil: return
                }
            }
            tasks.cancelAll()
        }
        // Who has had no turn comes before those who were stopped.
        leftOver = queue.left.filter { $0.part == .rest }.map(\.app) + leftOver
        for item in queue.left {
            if let attempt = item.attempt { note(attempt.fault, of: item) }
        }
        guard !Task.isCancelled else { return false }
        let outcomes = outcomes.sorted { $0.key < $1.key }.map(\.value)
        reporter.report(outcomes)
        return !outcomes.contains { $0.fault.map(Self.isMendedByTime) ?? false }
    }

    private func search(of item: HistoryQueue.Item, isRetrying: Bool) -> AppHistorySearch {
        AppHistorySearch(app: apps[item.app], plan: plan, isRetrying: isRetrying, dependencies: dependencies)
    }

    private static func run(_ search: AppHistorySearch, _ item: HistoryQueue.Item, until end: Instant) async -> Event {
        var search = search
        let result: Result<Bool, ServiceError>
        do throws(ServiceError) {
            switch item.part {
            case .requests:
                try await search.searchRequests()
                result = .success(true)
            case .rest: result = .success(try await search.searchRest(until: end))
            }
        } catch {
            result = .failure(error)
        }
        return .ended(item, search, result)
    }

    /// When to look again if no search ends before; nil when only a search that ends makes room.
    private func wakeUp(for queue: HistoryQueue, at now: Instant, end: Instant) -> Instant? {
        let isOver = now >= end
        var due: [Instant] = []
        if let until = outage.until, queue.isReady(isOver: isOver) { due.append(until) }
        if !isOver, let next = queue.nextDue { due += [max(next, outage.until ?? next), end] }
        return due.filter { $0 > now }.min()
    }
}

// MARK: What came of a search

extension EnvironmentHistorySearch {
    private mutating func note(_ findings: AppHistorySearch.Findings, of item: HistoryQueue.Item) {
        let app = apps[item.app].slug
        if findings.found > 0 { reporter.found(findings.found, of: app) }
        guard findings.unverified > 0 || findings.fault != nil else { return }
        var outcome = outcomes[item.app] ?? HistoryOutcome(app: app)
        outcome.unverified += findings.unverified
        outcome.unverifiedFault = outcome.unverifiedFault ?? findings.unverifiedFault
        outcome.fault = outcome.fault ?? findings.fault
        outcomes[item.app] = outcome
    }

    private mutating func note(_ fault: ServiceError, of item: HistoryQueue.Item) {
        let app = apps[item.app].slug
        outcomes[item.app, default: HistoryOutcome(app: app)].fault = fault
    }

    /// Decides how an app goes on.
    ///
    /// `isRestQueued`: whether the rest of its search is in the queue already.
    private mutating func handle(
        _ result: Result<Bool, ServiceError>, of item: HistoryQueue.Item, _ search: AppHistorySearch,
        isRestQueued: Bool, _ queue: inout HistoryQueue
    ) {
        let now = clock.monotonicNow()
        switch result {
        case .success(let isComplete):
            if outage.succeeded() { reporter.outageEnded() }
            if item.part == .requests {
                if !isRestQueued { queue.append(HistoryQueue.Item(app: item.app, part: .rest)) }
            } else if !isComplete {
                leftOver.append(item.app)
            }
        case .failure(let error):
            let isCommon = Self.mayBeCommon(error)
            if isCommon {
                if outage.failed(retryAfter: error.retryAfter, at: now) { reporter.outageBegan(error) }
            } else if error.apple != nil, outage.succeeded() {
                reporter.outageEnded()
            }
            var item = item
            let retries = item.attempt?.retries ?? 0
            if isCommon, outage.until != nil {
                // It is not this app's failure, and the next to look is another.
                item.attempt = HistoryQueue.Attempt(search, retries: retries, error)
                queue.append(item)
            } else if let pause = Self.pause(after: error, retries) {
                item.attempt = HistoryQueue.Attempt(search, retries: retries + 1, error)
                queue.append(item, notBefore: now + pause)
            } else {
                note(error, of: item)
            }
        }
    }

    /// Whether a failure may be that of all apps: Apple or the store are out of reach.
    private static func mayBeCommon(_ error: ServiceError) -> Bool {
        switch error.reason {
        case .appleUnavailable, .deadlineExceeded, .storeUnavailable: true
        default: false
        }
    }

    private static func isMendedByTime(_ error: ServiceError) -> Bool {
        mayBeCommon(error) || error.reason == .budgetExhausted || error.reason == .appleRateLimited
    }

    /// How long to wait before a search is tried again; nil when that is left to the next round.
    private static func pause(after error: ServiceError, _ retries: Int) -> Duration? {
        let wait: Duration
        switch error.reason {
        case .budgetExhausted, .appleRateLimited: wait = max(error.retryAfter ?? firstRetryPause, firstRetryPause)
        case _ where mayBeCommon(error) && retries < maximumRetries:
            wait = max(error.retryAfter ?? .zero, firstRetryPause * (1 << retries))
        default: return nil
        }
        return wait <= longestWait ? wait : nil
    }
}
