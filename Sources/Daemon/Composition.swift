import AppStoreAPI
import AppStoreClient
import CoreMetrics
import Curl
package import Domain
import Foundation
import HTTPAPI
import JOSE
import KeyCustody
package import Listener
package import Logging
import NIOCore
import NIOPosix
import OpenSSL
package import ServiceLifecycle
import StoreSQLite
package import Systemd

/// The parts of a daemon that tests replace; everything else is the real thing everywhere.
package struct Surroundings: Sendable {
    /// The time of day, for claims, rows and answers.
    package var now: WallClock = { Date() }
    /// Where the daemon says how it is.
    package var notifier = Notifier()
    /// Nil when nobody watches.
    package var watchdogInterval: Duration?
    package var logger: Logger

    package init(logger: Logger) { self.logger = logger }
}

/// A daemon with its sockets bound, ready to run.
package struct Daemon: Sendable {
    /// Where each listener really listens, by name.
    package let addresses: [String: BoundAddress]
    /// In dependency order: each may use those before it, and all are shut down in reverse.
    package let services: [any Service]
    private let eventLoops: MultiThreadedEventLoopGroup

    /// Runs until shutdown is triggered or a part fails.
    package func run(in group: ServiceGroup) async throws {
        do {
            try await group.run()
        } catch {
            try? await eventLoops.shutdownGracefully()
            throw error
        }
        try await eventLoops.shutdownGracefully()
    }

    fileprivate init(
        addresses: [String: BoundAddress], services: [any Service], eventLoops: MultiThreadedEventLoopGroup
    ) {
        self.addresses = addresses
        self.services = services
        self.eventLoops = eventLoops
    }
}

/// Builds a daemon from its configuration: the only place that names a concrete adapter.
///
/// When it returns, keys are loaded, migrations are done and every socket is bound.
/// - Throws: what a part says of why it cannot start; everything that was opened is closed again.
package func makeDaemon(
    configuration: DaemonConfiguration, surroundings: Surroundings
) async throws -> Daemon {
    let logger = surroundings.logger
    let metrics = PrometheusRegistry(help: MetricsHelp.texts)
    let keys = try KeyRing(loading: configuration.keys)
    let roots = try Files.certificates(configuration.apple.rootCertificateFiles)
    let store = try await openStore(configuration.store, surroundings)
    let apps = AppCatalog(configuration.apps)
    let access = try await CallerAccess(
        configuration, apps: apps, store: store, now: surroundings.now, logger: logger)
    let curl = try CurlClient(configuration: .init(configuration.apple))
    let minter = TokenMinter(
        keys: keys, clock: TokenMinter.Clock(now: surroundings.now), metrics: metrics, logger: logger)
    let budgets = RateBudgets(
        policy: RatePolicy(configuration, callers: try await access.keys.callers()),
        clock: BudgetClock(now: surroundings.now))
    let budgetCheckpoint = BudgetCheckpoint(budgets: budgets, store: store)
    try await budgetCheckpoint.restore()
    let budget = MeteredBudget(budgets, metrics: metrics)
    let client = AppStoreClient(
        configuration: UpstreamConfiguration(configuration.apple), client: curl, tokens: minter,
        budget: budget, verifier: SignedDataVerifier(roots: roots, now: surroundings.now), memory: store,
        clock: UpstreamClock(now: surroundings.now), meter: UpstreamMeter(factory: metrics), logger: logger)
    let health = HealthMonitor(
        store: store, keys: keys, apps: apps, usesCustomUpstream: configuration.apple.usesCustomUpstream,
        apple: client.health)
    let pageTokens = try await PageTokenCoder(store: store)
    let services = APIServices(
        apps: apps, gateway: client,
        consumption: ConsumptionService(
            gateway: client, links: store, now: surroundings.now, makeID: UUIDVersion7.make(at:), logger: logger),
        overview: UserOverviewService(gateway: client, links: store, memory: store, now: surroundings.now),
        purchases: UserPurchasesService(
            gateway: client, links: store, memory: store,
            snapshots: SnapshotCache(
                lifetime: configuration.snapshots.lifetime, maximumBytes: configuration.snapshots.maximumBytes),
            tokens: pageTokens, now: surroundings.now, makeSnapshotID: { UUID().uuidString }),
        subscriptions: UserSubscriptionsService(
            gateway: client, links: store, memory: store, now: surroundings.now),
        links: LinkService(store: store, now: surroundings.now), budgets: budgets, now: surroundings.now)
    let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    let faces = Faces(
        configuration: configuration, services: services, door: client, access: access, health: health,
        metrics: metrics, now: surroundings.now, eventLoops: eventLoops, logger: logger)
    let listeners = try await faces.bind()
    let watchdog = WatchdogService(
        interval: surroundings.watchdogInterval,
        heartbeats: [
            Heartbeat(name: "event loops") { await EventLoopHeartbeat.beat(eventLoops) },
            Heartbeat(name: "curl thread") { _ = await curl.heartbeat() },
            Heartbeat(name: "store executor") { await store.heartbeat() },
        ],
        notifier: surroundings.notifier, clock: ContinuousClock(), healthyStatus: { health.statusLine },
        logger: logger)
    return Daemon(
        addresses: listeners.addresses,
        services: [
            watchdog, StoreService(store: store),
            BudgetCheckpointService(checkpoint: budgetCheckpoint, clock: ContinuousClock(), logger: logger),
            CurlService(client: curl),
            TokenRefresher(minter: minter, apps: apps.all),
            StoppingService(notifier: surroundings.notifier, logger: logger),
        ] + listeners.services + [
            ReadinessService(
                health: health, notifier: surroundings.notifier, drainDelay: configuration.shutdown.drainDelay,
                logger: logger)
        ],
        eventLoops: eventLoops)
}

/// Opens the store, asking the service manager for patience while migrations run.
private func openStore(_ location: StoreLocation, _ surroundings: Surroundings) async throws -> SQLiteStore {
    let patience = Task {
        repeat {
            surroundings.notifier.tell(
                .extendTimeout(.seconds(30)), .status("Opening the store"), logger: surroundings.logger)
        } while (try? await Task.sleep(for: .seconds(10))) != nil
    }
    defer { patience.cancel() }
    switch location {
    case .sqlite(let path): return try await SQLiteStore.open(at: path)
    }
}

extension PageTokenCoder {
    /// Page tokens authenticated with a key that the store keeps.
    fileprivate init(store: SQLiteStore) async throws {
        let key = try await store.installationKey(name: "pageToken") { try SecureRandom.bytes(32) }
        let secret = try SecureBytes(count: key.count) { $0.copyBytes(from: key) }
        self.init(
            authenticationCode: { (try? HMACSHA256.authenticationCode(for: $0, key: secret)) ?? [] },
            encode: { Base64URL.encode($0) }, decode: { Base64URL.decode($0) })
    }
}
