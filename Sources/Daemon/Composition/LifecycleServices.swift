import Curl
import Domain
import Logging
import ServiceLifecycle
import StoreSQL
import Systemd

/// Ends the work with Apple when everything that calls it has ended.
struct CurlService: Service {
    let client: CurlClient

    func run() async throws {
        try? await gracefulShutdown()
        await client.shutdown()
    }
}

/// Closes the store when everything that uses it has ended.
struct StoreService: Service {
    let store: any SQLStore

    func run() async throws {
        try? await gracefulShutdown()
        await store.close()
    }
}

/// Does work of its own until it is told to stop, and then ends what it has begun.
struct WorkService: Service {
    /// Ends soon after its task is cancelled.
    let work: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown { await work() }
    }
}

/// Says when the daemon is ready and when it is leaving; the last in the list, so that it is told first to stop.
struct ReadinessService: Service {
    let health: HealthMonitor
    let notifier: Notifier
    let drainDelay: Duration
    /// Lets who keeps connections know that they end.
    let announceEnd: @Sendable () -> Void
    let logger: Logger

    func run() async throws {
        await notifier.tell(.ready, .status(health.statusLine), logger: logger)
        logger.notice("Ready: \(health.statusLine)")
        try? await gracefulShutdown()
        health.startDraining()
        announceEnd()
        await notifier.tell(.status(health.statusLine), logger: logger)
        logger.notice("Draining", metadata: ["delay": "\(drainDelay)"])
        // The orchestrator needs this long to see `/readyz` and to send its callers elsewhere.
        try? await Task.sleep(for: drainDelay)
    }
}

/// Tells the service manager that requests in flight are finished; stands before the listeners in the list, and so after
/// them at the end.
struct StoppingService: Service {
    let notifier: Notifier
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        await notifier.tell(.stopping, .status("Stopping"), logger: logger)
        logger.notice("Stopping")
    }
}
