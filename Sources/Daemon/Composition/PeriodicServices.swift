import Domain
import Logging
import ServiceLifecycle
import Systemd

/// Removes what has been kept long enough, in batches so small that they hold up nobody.
struct RetentionService<C: Clock<Duration>>: Service {
    /// Rows of each kind that one batch removes at most.
    static var batchSize: Int { 500 }

    private let store: any StoreMaintenance
    private let policy: RetentionPolicy
    private let interval: Duration
    private let pause: Duration
    private let now: WallClock
    private let clock: C
    private let logger: Logger

    /// - Parameters:
    ///   - store: what is to be kept small.
    ///   - policy: how long what is over is kept.
    ///   - interval: from one round to the next.
    ///   - pause: between two batches of a round, for those who write meanwhile.
    ///   - now: the time of day.
    ///   - clock: measures interval and pause.
    ///   - logger: told what a round removed.
    init(
        store: any StoreMaintenance, policy: RetentionPolicy, interval: Duration = .seconds(3600),
        pause: Duration = .milliseconds(200), now: @escaping WallClock, clock: C, logger: Logger
    ) {
        self.store = store
        self.policy = policy
        self.interval = interval
        self.pause = pause
        self.now = now
        self.clock = clock
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await round() } while (try? await clock.sleep(for: interval)) != nil
        }
    }

    /// Removes batch after batch until nothing is left to remove; what fails is tried again in the next round.
    private func round() async {
        var removed = RetentionResult()
        do throws(ServiceError) {
            repeat {
                let batch = try await store.enforceRetention(policy, at: now(), limit: Self.batchSize)
                guard !batch.isEmpty else { break }
                removed.add(batch)
            } while (try? await clock.sleep(for: pause)) != nil
        } catch {
            logger.error(
                "What has been kept long enough could not be removed",
                metadata: ["cause": "\(error.cause ?? error.message)"])
        }
        guard !removed.isEmpty else { return }
        logger.info(
            "Removed what has been kept long enough",
            metadata: [
                "notifications": "\(removed.notifications)", "deliveries": "\(removed.deliveries)",
                "cases": "\(removed.cases)", "attempts": "\(removed.attempts)", "events": "\(removed.events)",
                "quarantined": "\(removed.quarantined)", "idempotencyKeys": "\(removed.idempotencyKeys)",
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
    }
}

/// Keeps the gauges, and the status line of the service manager, up with what waits in the store; tells when an outage is
/// over.
struct BacklogService<C: Clock<Duration>>: Service {
    private let monitor: BacklogMonitor
    private let health: HealthMonitor
    private let notifier: Notifier
    private let interval: Duration
    private let clock: C
    private let logger: Logger
    private let recovered: @Sendable () -> Void

    /// - Parameters:
    ///   - monitor: what waits.
    ///   - health: makes the status line of it.
    ///   - notifier: takes the status line.
    ///   - interval: from one look to the next.
    ///   - clock: measures it.
    ///   - logger: told when the store cannot be looked at.
    ///   - recovered: called when the store, or Apple, works again after it did not.
    init(
        monitor: BacklogMonitor, health: HealthMonitor, notifier: Notifier, interval: Duration = .seconds(15),
        clock: C, logger: Logger, recovered: @escaping @Sendable () -> Void
    ) {
        self.monitor = monitor
        self.health = health
        self.notifier = notifier
        self.interval = interval
        self.clock = clock
        self.logger = logger
        self.recovered = recovered
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var told: String?
            var (wasStoreWell, wasAppleWell) = (true, true)
            repeat {
                let isStoreWell = await look(wasWell: wasStoreWell)
                let isAppleWell = health.isAppleWell
                if isStoreWell && isAppleWell && !(wasStoreWell && wasAppleWell) { recovered() }
                (wasStoreWell, wasAppleWell) = (isStoreWell, isAppleWell)
                let line = health.statusLine
                if line != told { await notifier.tell(.status(line), logger: logger) }
                told = line
            } while (try? await clock.sleep(for: interval)) != nil
        }
    }

    /// Looks once; a failure is logged when it begins, not each time.
    private func look(wasWell: Bool) async -> Bool {
        do throws(ServiceError) {
            try await monitor.look()
            return true
        } catch {
            // A cancelled task's question fails, whatever the store.
            if wasWell, !Task.isCancelled {
                logger.error(
                    "What waits in the store cannot be counted", metadata: ["cause": "\(error.cause ?? error.message)"])
            }
            return false
        }
    }
}

/// Saves what is used of the budgets at intervals, and a last time when everything that calls Apple has ended.
struct BudgetCheckpointService<C: Clock<Duration>>: Service {
    /// How much use a crash may forget.
    private let interval: Duration
    private let checkpoint: BudgetCheckpoint
    private let clock: C
    private let logger: Logger

    init(checkpoint: BudgetCheckpoint, interval: Duration = .seconds(60), clock: C, logger: Logger) {
        self.checkpoint = checkpoint
        self.interval = interval
        self.clock = clock
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await clock.sleep(for: interval)) != nil { await save() }
        }
        await save()
    }

    /// Whatever cannot be saved now is saved the next time.
    private func save() async {
        do throws(ServiceError) {
            try await checkpoint.save()
        } catch {
            logger.error(
                "What is used of the budgets could not be saved", metadata: ["cause": "\(error.cause ?? error.message)"]
            )
        }
    }
}

/// Writes at intervals what Apple's answers told of identifiers, and a last time when everything that calls Apple has
/// ended.
struct EnvironmentMemoryService<C: Clock<Duration>>: Service {
    /// How much a kill may forget; each forgotten entry costs one call.
    private let interval: Duration
    private let clock: C
    private let save: @Sendable () async -> Void

    init(interval: Duration = .seconds(1), clock: C, save: @escaping @Sendable () async -> Void) {
        self.interval = interval
        self.clock = clock
        self.save = save
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await clock.sleep(for: interval)) != nil { await save() }
        }
        await save()
    }
}
