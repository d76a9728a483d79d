import AppStoreClient
import Domain
import KeyCustody
import Listener
import Logging
import ServiceLifecycle
import Synchronization
import Systemd

/// Does one thing again and again, with a pause after each time, until it is told to stop.
///
/// What is done so is listed below, each with its interval.
struct PeriodicService<C: Clock<Duration>>: Service {
    /// When it is done besides after each interval.
    enum Turn {
        /// Once at the start.
        case first
        /// Once more when it is told to stop, and everything that depends on it has ended.
        case last
    }

    /// From the end of one time to the beginning of the next.
    let interval: Duration
    let turns: [Turn]
    let clock: C
    /// Tells of its failures itself; what fails is tried again the next time.
    let work: @Sendable () async -> Void

    init(every interval: Duration, also turns: Turn..., clock: C, work: @escaping @Sendable () async -> Void) {
        self.interval = interval
        self.turns = turns
        self.clock = clock
        self.work = work
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if turns.contains(.first) { await work() }
            while (try? await clock.sleep(for: interval)) != nil { await work() }
        }
        if turns.contains(.last) { await work() }
    }
}

extension PeriodicService {
    /// Saves what is used of the budgets: each minute, which is what a crash may forget, and at the end; where several copies
    /// share them each five seconds.
    static func budgets(
        _ checkpoint: BudgetCheckpoint, clock: C, logger: Logger
    ) -> PeriodicService {
        PeriodicService(every: checkpoint.interval, also: .last, clock: clock) {
            do throws(ServiceError) {
                try await checkpoint.save(isLast: Task.isShuttingDownGracefully)
            } catch {
                logger.tell("What is used of the budgets could not be saved", error)
            }
        }
    }

    /// Writes what Apple's answers told of identifiers and of apps: each second, which is what a kill may forget, and at the
    /// end; an entry that is forgotten costs one call.
    static func memory(
        clock: C, save: @escaping @Sendable () async -> Void
    ) -> PeriodicService {
        PeriodicService(every: .seconds(1), also: .last, clock: clock, work: save)
    }

    /// Keeps when callers were last here: each minute, which is what a kill may forget, and at the end.
    static func callers(_ access: Access, _ health: CallerHealth, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(60), also: .first, .last, clock: clock) {
            health.show()
            await access.keepUses()
        }
    }

    /// Keeps the gauges of callbacks up.
    static func callbacks(_ gauges: CallbackGauges, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(15), also: .first, clock: clock, work: gauges.show)
    }

    /// Keeps the counters of Apple's decisions up.
    static func refundDecisions(_ counters: RefundDecisionCounters, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(15), also: .first, clock: clock, work: counters.show)
    }

    /// Keeps the gauges of refund requests up; they read what a report of a week reads.
    static func refundRequests(_ gauges: RefundRequestGauges, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(300), also: .first, clock: clock, work: gauges.show)
    }

    /// Keeps what was decided about keys, and which have taken over: each second, which is what a kill may forget, and at the
    /// end.
    static func keys(_ custodian: KeyCustodian, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(1), also: .last, clock: clock) { await custodian.save() }
    }

    /// Looks at the directories of keys.
    static func keyDirectories(_ custodian: KeyCustodian, clock: C) -> PeriodicService {
        PeriodicService(every: KeyCustodian.directoryInterval, clock: clock) { await custodian.lookAtDirectories() }
    }

    /// Takes up certificates, keys and authorities of listeners that were replaced, and warns of certificates that end.
    static func certificates(
        _ certificates: [ListenerCertificates], now: @escaping WallClock, clock: C
    ) -> PeriodicService {
        PeriodicService(every: ConfigurationDefaults.Listeners.tlsRefreshInterval, clock: clock) {
            for certificate in certificates {
                await certificate.refresh()
                certificate.warnOfEnd(at: now())
            }
        }
    }

    /// Replaces tokens ahead of need; the interval is a small part of a token's life.
    static func tokens(_ minter: TokenMinter, of apps: AppCatalog, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(15), clock: clock) { minter.refresh(apps.all) }
    }

    /// Tells the audit how often tokens are used: every ten minutes, and at the end.
    static func tokenUses(_ minter: TokenMinter, of apps: AppCatalog, clock: C) -> PeriodicService {
        PeriodicService(every: .seconds(600), also: .last, clock: clock) { minter.tellUses(apps.all) }
    }

    /// Removes what has been kept long enough.
    static func retention(
        of store: any StoreMaintenance, policy: RetentionPolicy, time: ServiceClock, clock: C, logger: Logger
    ) -> PeriodicService {
        let round = RetentionRound(store: store, policy: policy, time: time, clock: clock, logger: logger)
        return PeriodicService(every: .seconds(3600), also: .first, clock: clock, work: round.run)
    }

    /// Keeps gauges and status line up with what waits.
    ///
    /// `recovered`: called when the store, or Apple, works again after it did not.
    static func backlog(
        _ monitor: BacklogMonitor, health: HealthMonitor, notifier: Notifier, clock: C,
        logger: Logger, recovered: @escaping @Sendable () -> Void
    ) -> PeriodicService {
        let watch = BacklogWatch(
            monitor: monitor, health: health, notifier: notifier, logger: logger, recovered: recovered)
        return PeriodicService(every: .seconds(15), also: .first, clock: clock, work: watch.look)
    }
}

/// Removes what has been kept long enough, in batches so small that they hold up nobody.
struct RetentionRound<C: Clock<Duration>>: Sendable {
    /// Rows of each kind that one batch removes at most.
    static var batchSize: Int { 500 }

    let store: any StoreMaintenance
    let policy: RetentionPolicy
    /// Between two batches, for those who write meanwhile.
    var pause: Duration = .milliseconds(200)
    /// What tells how old things are.
    let time: ServiceClock
    let clock: C
    let logger: Logger

    /// Removes batch after batch until nothing is left to remove, by a clock that can be relied upon.
    func run() async {
        while !time.isCertain {
            guard (try? await clock.sleep(for: .seconds(1))) != nil else { return }
        }
        var removed = RetentionResult()
        do throws(ServiceError) {
            repeat {
                let batch = try await store.enforceRetention(policy, at: time.now(), limit: Self.batchSize)
                guard !batch.isEmpty else { break }
                removed.add(batch)
            } while (try? await clock.sleep(for: pause)) != nil
        } catch {
            logger.tell("What has been kept long enough could not be removed", error)
        }
        guard !removed.isEmpty else { return }
        logger.info(
            "Removed what has been kept long enough",
            metadata: [
                "notifications": .stringConvertible(removed.notifications),
                "deliveries": .stringConvertible(removed.deliveries),
                "cases": .stringConvertible(removed.cases), "attempts": .stringConvertible(removed.attempts),
                "events": .stringConvertible(removed.events),
                "quarantined": .stringConvertible(removed.quarantined),
                "idempotencyKeys": .stringConvertible(removed.idempotencyKeys),
                "receipts": .stringConvertible(removed.receipts), "usage": .stringConvertible(removed.usage),
                "answers": .stringConvertible(removed.answers),
            ])
    }
}

extension RetentionResult {
    fileprivate mutating func add(_ other: RetentionResult) {
        notifications += other.notifications
        deliveries += other.deliveries
        cases += other.cases
        attempts += other.attempts
        events += other.events
        idempotencyKeys += other.idempotencyKeys
        quarantined += other.quarantined
        receipts += other.receipts
        usage += other.usage
        answers += other.answers
    }
}

/// Keeps the gauges, and the status line of the service manager, up with what waits in the store; tells when an outage is
/// over.
final class BacklogWatch: Sendable {
    private struct State {
        var told: String?
        var wasStoreWell = true
        var wasAppleWell = true
    }

    private let monitor: BacklogMonitor
    private let health: HealthMonitor
    private let notifier: Notifier
    private let logger: Logger
    private let recovered: @Sendable () -> Void
    private let state = Mutex(State())

    init(
        monitor: BacklogMonitor, health: HealthMonitor, notifier: Notifier, logger: Logger,
        recovered: @escaping @Sendable () -> Void
    ) {
        self.monitor = monitor
        self.health = health
        self.notifier = notifier
        self.logger = logger
        self.recovered = recovered
    }

    /// Looks once; to be called one time after the other.
    func look() async {
        let earlier = state.withLock(\.self)
        let isStoreWell = await lookAtStore(wasWell: earlier.wasStoreWell)
        let isAppleWell = health.isAppleWell
        if isStoreWell && isAppleWell && !(earlier.wasStoreWell && earlier.wasAppleWell) { recovered() }
        let line = health.statusLine
        if line != earlier.told { await notifier.tell(.status(line), logger: logger) }
        state.withLock { $0 = State(told: line, wasStoreWell: isStoreWell, wasAppleWell: isAppleWell) }
    }

    /// Whether it can be written, and be read; a failure is logged when it begins, not each time.
    private func lookAtStore(wasWell: Bool) async -> Bool {
        let isUsable = await health.storeIsUsable()
        do throws(ServiceError) {
            try await monitor.look()
            return isUsable
        } catch {
            // A cancelled task's question fails, whatever the store.
            if wasWell, !Task.isCancelled { logger.tell("What waits in the store cannot be counted", error) }
            return false
        }
    }
}
