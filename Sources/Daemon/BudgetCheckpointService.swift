import Domain
import Logging
import ServiceLifecycle

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
