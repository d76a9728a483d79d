import Foundation
package import Logging

/// Looks in Apple's notification history for what did not come in: at the start, after an outage and on a schedule.
///
/// Apple's third try comes 13 hours after the first, too late for a consumption request.
package final class HistorySearch: Sendable {
    /// How many apps and environments are searched at the same time.
    static let concurrency = 8
    /// The next round after one that did not get through everywhere, at the latest.
    static let retryInterval = Duration.seconds(300)

    /// When Apple's history is searched, and how far back.
    package struct Schedule: Sendable, Equatable {
        /// From the end of one round to the next.
        package var interval: Duration = .seconds(1800)
        /// How far back the first search of an app looks.
        package var firstLookBack: Duration = .seconds(72 * 3600)

        package init() {}

        package init(interval: Duration, firstLookBack: Duration) {
            self.interval = interval
            self.firstLookBack = firstLookBack
        }
    }

    private let gateway: any NotificationGateway
    private let store: any NotificationStore
    private let processor: NotificationProcessor
    private let searches: [(app: App, environment: AppStoreEnvironment)]
    private let schedule: Schedule
    private let clock: ServiceClock
    private let logger: Logger
    private let signal = WakeSignal()

    /// - Parameters:
    ///   - gateway: asked for Apple's history.
    ///   - store: keeps what is found, and how far each search has got.
    ///   - processor: is told of what is new.
    ///   - apps: searched in each of their environments.
    ///   - schedule: when to search, and how far back.
    ///   - clock: the clocks.
    ///   - logger: is told of what was found, and once of what keeps a search from getting through.
    package init(
        gateway: any NotificationGateway, store: any NotificationStore, processor: NotificationProcessor,
        apps: AppCatalog, schedule: Schedule = Schedule(), clock: ServiceClock, logger: Logger
    ) {
        self.gateway = gateway
        self.store = store
        self.processor = processor
        searches = apps.all.flatMap { app in
            AppStoreEnvironment.allCases.filter(app.environments.contains).map { (app, $0) }
        }
        self.schedule = schedule
        self.clock = clock
        self.logger = logger
    }

    /// Searches until the task is cancelled.
    ///
    /// To be called once.
    package func run() async {
        var reporter = HistoryReporter(logger: logger)
        while !Task.isCancelled {
            let outcomes = await searchAll()
            guard !Task.isCancelled else { return }
            reporter.report(outcomes)
            await signal.wait(atMost: pause(after: outcomes), by: clock)
        }
    }

    /// Searches now, or again when the present round is over: Apple or the store can be reached again.
    package func searchSoon() { signal.wake() }

    private func searchAll() async -> [HistoryOutcome] {
        await withTaskGroup(of: HistoryOutcome.self) { tasks in
            var outcomes: [HistoryOutcome] = []
            for (index, origin) in searches.enumerated() {
                if index >= Self.concurrency, let ended = await tasks.next() { outcomes.append(ended) }
                tasks.addTask { [self] in
                    var search = AppHistorySearch(
                        app: origin.app,
                        plan: HistoryPlan(environment: origin.environment, firstLookBack: schedule.firstLookBack),
                        gateway: gateway, store: store, processor: processor, clock: clock)
                    return await search.run()
                }
            }
            for await ended in tasks { outcomes.append(ended) }
            return outcomes
        }
    }

    /// What time mends is tried again sooner.
    private func pause(after outcomes: [HistoryOutcome]) -> Duration {
        let isWorthRetrying = outcomes.contains { outcome in
            switch outcome.fault?.reason {
            case .appleUnavailable, .deadlineExceeded, .storeUnavailable, .budgetExhausted, .appleRateLimited: true
            default: false
            }
        }
        return isWorthRetrying ? min(schedule.interval, Self.retryInterval) : schedule.interval
    }
}

/// What came of one search.
struct HistoryOutcome: Sendable {
    let origin: AppEnvironment
    /// How many notifications had not come in before.
    let found: Int
    /// Why it did not get through, if so.
    let fault: ServiceError?
}

/// Tells the log what searches found, and once what keeps them from getting through.
struct HistoryReporter {
    /// What makes two faults the same.
    private struct Fault: Hashable {
        let reason: ServiceError.Reason
        let appleCode: Int64?
    }

    /// How many apps a line names.
    static let longestList = 10

    private let logger: Logger
    private var told: [AppEnvironment: Fault] = [:]

    init(logger: Logger) { self.logger = logger }

    /// Reports a round.
    mutating func report(_ outcomes: [HistoryOutcome]) {
        var news: [Fault: [HistoryOutcome]] = [:]
        for outcome in outcomes {
            if outcome.found > 0 {
                logger.notice(
                    "Apple's notification history held what had not come in",
                    metadata: [
                        "app": "\(outcome.origin.app)", "environment": "\(outcome.origin.environmentName)",
                        "notifications": "\(outcome.found)",
                    ])
            }
            let fault = outcome.fault.flatMap(Self.fault)
            if let fault, told[outcome.origin] != fault { news[fault, default: []].append(outcome) }
            told[outcome.origin] = fault
        }
        for outcomes in news.values { report(alike: outcomes) }
    }

    /// An app that was never released has no notifications to be missed, which is no fault.
    private static func fault(_ error: ServiceError) -> Fault? {
        error.reason == .noProductionRelease
            ? nil : Fault(reason: error.reason, appleCode: error.apple?.errorCode)
    }

    /// Reports those that fail for one reason.
    private func report(alike outcomes: [HistoryOutcome]) {
        guard let error = outcomes.first?.fault else { return }
        var names = outcomes.prefix(Self.longestList).map { "\($0.origin.app) \($0.origin.environmentName)" }
        if outcomes.count > names.count { names.append("\(outcomes.count - names.count) more") }
        logger.warning(
            "Apple's notification history could not be read to the end; missed notifications may still be missing",
            metadata: [
                "apps": "\(names.joined(separator: ", "))", "reason": "\(error.reason.rawValue)",
                "cause": "\(error.cause ?? error.message)",
            ])
    }
}
