import Foundation
package import Logging
import Synchronization

/// Looks in Apple's notification history for what did not come in: at the start, after an outage and on a schedule.
///
/// Apple's third try comes 13 hours after the first, too late for a consumption request. Each environment is searched by
/// itself, so that the outage of one holds up nothing of the other.
package final class HistorySearch: Sendable {
    /// The next round after one that did not get through everywhere, at the latest.
    static let retryInterval = Duration.seconds(300)
    /// How often what did not verify, and could not be kept, is looked for again.
    static let unkeptInterval = Duration.seconds(86_400)

    /// When Apple's history is searched, and how far back.
    package struct Schedule: Sendable, Equatable {
        /// From the end of one round to the next, and the longest that one goes on if others wait for the next.
        package var interval: Duration = .seconds(1800)
        /// How far back the first search of an app looks.
        package var firstLookBack: Duration = .seconds(72 * 3600)

        package init() {}

        package init(interval: Duration, firstLookBack: Duration) {
            self.interval = interval
            self.firstLookBack = firstLookBack
        }
    }

    /// One of Apple's environments.
    private struct Lane: Sendable {
        let environment: AppStoreEnvironment
        let signal = WakeSignal()
    }

    private let dependencies: HistoryDependencies
    private let lanes: [Lane]
    private let apps: AppCatalog
    private let schedule: Schedule
    private let logger: Logger
    /// The environments in which what could not be kept is to be looked for in the next round.
    private let retries = Mutex<Set<AppStoreEnvironment>>([])

    /// - Parameters:
    ///   - gateway: asked for Apple's history.
    ///   - store: keeps what is found, and how far each search has got.
    ///   - quarantine: keeps what does not verify.
    ///   - processor: is told of what is new.
    ///   - apps: searched in each of their environments.
    ///   - schedule: when to search, and how far back.
    ///   - clock: the clocks.
    ///   - logger: is told of what was found, and once of what keeps a search from getting through.
    package init(
        gateway: any NotificationGateway, store: any NotificationStore, quarantine: NotificationQuarantine,
        processor: NotificationProcessor, apps: AppCatalog, schedule: Schedule = Schedule(), clock: ServiceClock,
        logger: Logger
    ) {
        dependencies = HistoryDependencies(
            gateway: gateway, store: store, quarantine: quarantine, processor: processor, clock: clock)
        lanes = AppStoreEnvironment.allCases.map { Lane(environment: $0) }
        self.apps = apps
        self.schedule = schedule
        self.logger = logger
    }

    /// Searches until the task is cancelled.
    ///
    /// To be called once.
    package func run() async {
        await withTaskGroup(of: Void.self) { tasks in
            for lane in lanes { tasks.addTask { await self.run(lane) } }
        }
    }

    /// Searches now, or again when the present round is over: Apple or the store can be reached again.
    package func searchSoon() { lanes.forEach { $0.signal.wake() } }

    /// Looks again for what did not verify and could not be kept, as the configuration may be another now.
    package func retryUnverified() {
        retries.withLock { $0 = Set(AppStoreEnvironment.allCases) }
        searchSoon()
    }

    private func run(_ lane: Lane) async {
        let clock = dependencies.clock
        var search = EnvironmentHistorySearch(
            plan: HistoryPlan(environment: lane.environment, firstLookBack: schedule.firstLookBack),
            dependencies: dependencies, reporter: HistoryReporter(environment: lane.environment, logger: logger))
        var nextRetry = clock.monotonicNow()
        while !Task.isCancelled {
            let apps = apps.all.filter { $0.environments.contains(lane.environment) }
            guard !apps.isEmpty else {
                // A reload that brings one tells.
                await lane.signal.wait(atMost: nil, by: clock)
                continue
            }
            search.take(apps)
            // What it looks for begins and ends at times of day.
            await clock.whenCertain()
            let start = clock.monotonicNow()
            let isAsked = retries.withLock { $0.remove(lane.environment) != nil }
            let isRetrying = isAsked || start >= nextRetry
            if isRetrying { nextRetry = start + Self.unkeptInterval }
            let end = start + schedule.interval
            let isThrough = await search.round(until: end, isRetrying: isRetrying)
            guard !Task.isCancelled else { return }
            // Who was left out because the time was over goes on at once.
            guard clock.monotonicNow() < end else { continue }
            await lane.signal.wait(
                atMost: isThrough ? schedule.interval : min(schedule.interval, Self.retryInterval), by: clock)
        }
    }
}
