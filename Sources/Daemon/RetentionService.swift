import Domain
import Logging
import ServiceLifecycle

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
