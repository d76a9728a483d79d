import Domain
import Logging
import ServiceLifecycle
import Systemd

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
