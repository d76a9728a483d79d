import AppStoreAPI
import AppStoreClient
import CoreMetrics
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

/// Builds a daemon from its configuration: with the other files named for what they compose, the only place that names a
/// concrete adapter.
///
/// When it returns, keys are loaded, migrations are done and every socket is bound.
/// - Throws: what a part says of why it cannot start; everything that was opened is closed again.
package func makeDaemon(
    configuration: DaemonConfiguration, surroundings: Surroundings
) async throws -> Daemon {
    let (now, logger) = (surroundings.now, surroundings.logger)
    let metrics = PrometheusRegistry(help: MetricsHelp.texts)
    let keys = try KeyRing(loading: configuration.keys)
    let roots = try Files.certificates(configuration.apple.rootCertificateFiles)
    let store = try await openStore(configuration.store, surroundings)
    let apps = AppCatalog(configuration.apps)
    let access = try await CallerAccess(configuration, apps: apps, store: store, now: now, logger: logger)
    let verifier = SignedDataVerifier(roots: roots, now: now)
    let meter = UpstreamMeter(factory: metrics)
    let apple = try await AppleAccess(
        configuration, keys: keys, callers: access.keys, store: store, verifier: verifier, meter: meter,
        metrics: metrics, surroundings)
    let snapshots = SnapshotCache(
        lifetime: configuration.snapshots.lifetime, maximumBytes: configuration.snapshots.maximumBytes)
    let refunds = RefundWork(
        RefundWork.Surroundings(
            configuration: configuration, apps: apps, store: store, client: apple.client,
            verifier: MeteredNotificationVerifier(
                NotificationAuthenticator(verifier: verifier, meter: meter), metrics: metrics), snapshots: snapshots,
            now: now, logger: logger))
    let events = EventFeed(store: store, bell: store.bell)
    let backlog = BacklogMonitor(apps: apps, metrics: metrics, now: now) { () throws(ServiceError) in
        try await Backlog.read(store)
    }
    let health = HealthMonitor(
        store: store, keys: keys, configuration: configuration, backlog: backlog, now: now,
        apple: apple.client.health)
    let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    let faces = Faces(
        configuration: configuration,
        services: try await apiServices(
            configuration, apps, store: store, apple, refunds, events: events, snapshots: snapshots, now: now),
        door: apple.client, access: access, health: health,
        administration: StoreAdministration(
            maintenance: store, deliveries: store, now: now, released: refunds.dispatcher.kick),
        metrics: metrics, now: now, eventLoops: eventLoops, logger: logger)
    let listeners = try await faces.bind()
    let own: [any Service] = [
        WatchdogService(
            asking: watchdogHeartbeats(eventLoops, apple.curl, store, refunds.dispatcher), health: health, surroundings),
        StoreService(store: store),
        RetentionService(
            store: store, policy: configuration.retention, now: now, clock: ContinuousClock(), logger: logger),
    ]
    return Daemon(
        addresses: listeners.addresses,
        services: own + apple.services(apps: apps, logger: logger) + refunds.services + [
            StoppingService(notifier: surroundings.notifier, logger: logger),
            BacklogService(
                monitor: backlog, health: health, notifier: surroundings.notifier, clock: ContinuousClock(),
                logger: logger
            ) { refunds.history?.searchSoon() },
        ] + listeners.services + [
            // Told to stop before the listeners, so that nobody who waits for events holds them up.
            WorkService(work: events.run),
            ReadinessService(
                health: health, notifier: surroundings.notifier, drainDelay: configuration.shutdown.drainDelay,
                logger: logger),
        ],
        eventLoops: eventLoops)
}

/// Everything that the routes of the `api` face need.
private func apiServices(
    _ configuration: DaemonConfiguration, _ apps: AppCatalog, store: SQLiteStore, _ apple: AppleAccess,
    _ refunds: RefundWork, events: EventFeed, snapshots: SnapshotCache, now: @escaping WallClock
) async throws -> APIServices {
    let client = apple.client
    let pageTokens = try await PageTokenCoder(store: store)
    return APIServices(
        apps: apps, gateway: client, consumption: refunds.consumption, consumptionWait: configuration.deliveries.wait,
        deliveries: refunds.deliveries, cases: refunds.cases, consent: refunds.consent,
        notifications: refunds.notifications, events: events, pageTokens: pageTokens,
        overview: UserOverviewService(gateway: client, links: store, memory: store, now: now),
        purchases: UserPurchasesService(
            gateway: client, links: store, memory: store, snapshots: snapshots, tokens: pageTokens, now: now,
            makeSnapshotID: { UUID().uuidString }),
        subscriptions: UserSubscriptionsService(gateway: client, links: store, memory: store, now: now),
        links: LinkService(store: store, now: now), budgets: apple.budgets, now: now)
}

/// Opens the store, asking the service manager for patience while migrations run.
func openStore(_ location: StoreLocation, _ surroundings: Surroundings) async throws -> SQLiteStore {
    let patience = Task {
        repeat {
            await surroundings.notifier.tell(
                .extendTimeout(.seconds(30)), .status("Opening the store"), logger: surroundings.logger)
        } while (try? await Task.sleep(for: .seconds(10))) != nil
    }
    defer { patience.cancel() }
    switch location {
    case .sqlite(let path):
        return try await SQLiteStore.open(at: path) { key in
            TombstoneHasher(authenticationCode: authenticator(key: key))
        }
    }
}

extension PageTokenCoder {
    /// Page tokens authenticated with a key that the store keeps.
    ///
    /// - Throws: `storeUnavailable`, or `OpenSSLError` when there is no randomness for the key.
    init(store: SQLiteStore) async throws {
        let key = try await store.installationKey(name: "pageToken") { try SecureRandom.bytes(32) }
        self.init(
            authenticationCode: authenticator(key: key), encode: { Base64URL.encode($0) },
            decode: { Base64URL.decode($0) })
    }
}

/// Computes authentication codes (HMAC-SHA-256, RFC 2104) under a key of this installation; what cannot be computed is
/// empty, which is no code.
private func authenticator(key: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8] {
    let secret = try? SecureBytes(count: key.count) { $0.copyBytes(from: key) }
    return { content in
        guard let secret else { return [] }
        return (try? HMACSHA256.authenticationCode(for: content, key: secret)) ?? []
    }
}
