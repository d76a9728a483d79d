import AppStoreClient
import AuditLog
package import Domain
import Foundation
import KeyCustody
package import Listener
package import Logging
import NIOCore
import NIOPosix
package import ServiceLifecycle
package import Systemd
import TraceContext
package import Tracing

/// What a daemon takes from outside, and tests replace; everything else is the real thing everywhere.
package struct Dependencies: Sendable {
    /// The time of day, for claims, rows and answers; nil for the machine's, in which nobody believes before Apple agrees.
    package var now: WallClock?
    /// Where the daemon says how it is.
    package var notifier = Notifier()
    /// Nil when nobody watches.
    package var watchdogInterval: Duration?
    /// The sockets that the service manager has opened; listeners without one open their own.
    package var inheritedSockets: [InheritedSocket] = []
    /// Reads the configuration anew, with all that it names, and may block; nil where there is nothing to read.
    package var loadConfiguration: (@Sendable () throws(ConfigurationError) -> DaemonConfiguration)?
    /// What `logger` logs, which a reload changes.
    package var logLevel = LogLevel(ConfigurationDefaults.logLevel)
    /// The ids of the master keys whose loss the operator accepts at this start.
    package var acceptedMasterKeyLosses: [String] = []
    /// Who records spans; nobody, until there is an exporter.
    package var tracer: (any Tracer)?
    package var logger: Logger

    package init(logger: Logger) { self.logger = logger }
}

/// A daemon with its sockets bound, ready to run.
package struct Daemon: Sendable {
    /// Where each listener really listens, by name.
    package let addresses: [String: BoundAddress]
    /// In dependency order: each may use those before it, and all are shut down in reverse.
    package let services: [any Service]
    /// Reads the configuration anew while the daemon runs.
    package let reloader: any ConfigurationReloader
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
        addresses: [String: BoundAddress], services: [any Service], reloader: any ConfigurationReloader,
        eventLoops: MultiThreadedEventLoopGroup
    ) {
        self.addresses = addresses
        self.reloader = reloader
        self.services = services
        self.eventLoops = eventLoops
    }
}

/// Builds a daemon from its configuration: adapters, the services upon them, and the listeners that lead to those.
///
/// When it returns, keys are loaded, migrations are done and every socket is bound.
/// - Throws: what a part says of why it cannot start; everything that was opened is closed again.
package func makeDaemon(configuration: DaemonConfiguration, dependencies: Dependencies) async throws -> Daemon {
    let settings = CurrentSettings(Services.Settings(configuration))
    try configuration.masterKey.check(owners: configuration.secretFiles)
    let adapters = try await Adapters(configuration, settings, dependencies)
    let services = Services(ports: adapters.ports, settings: settings)
    try await services.access.load()
    warnOfOrphans(services.access, logger: dependencies.logger)
    let clock = services.clock.steady.map { ClockReport($0, metrics: adapters.metrics) }
    let backlog = BacklogMonitor(
        apps: services.apps, metrics: adapters.metrics, now: services.clock.now, clock: clock
    ) {
        [store = adapters.store] () throws(ServiceError) in
        try await Backlog.read(store)
    }
    let callers = CallerHealth(services.access.report, metrics: adapters.metrics)
    let loaded = LoadedConfiguration(at: services.clock.now(), metrics: adapters.metrics)
    let health = HealthMonitor(
        store: adapters.store, keys: adapters.keys, custodian: adapters.custodian, configuration: configuration,
        settings: settings, loaded: loaded, backlog: backlog,
        audit: { [audit = adapters.audit] in audit.status },
        now: services.clock.now, clock: clock, callers: callers, apple: adapters.client.health)
    let reloader = Reloader(configuration, adapters, services, loaded, dependencies) { health.statusLine }
    let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    let listeners = try await Listeners(
        configuration: configuration, services: services, proxy: adapters.client, health: health, reloader: reloader,
        metrics: adapters.metrics, tracing: TraceScope(tracer: dependencies.tracer), eventLoops: eventLoops,
        inherited: try InheritedListeners(dependencies.inheritedSockets, for: configuration.listeners),
        logger: dependencies.logger
    ).bind()
    health.watch(listeners.certificates)
    reloader.reach(listeners.targets)
    let beats = HeartbeatTimes()
    observe(adapters, listeners, beats)
    return Daemon(
        addresses: listeners.addresses,
        services: lifecycle(
            adapters, services, configuration, dependencies, eventLoops, backlog, callers, health, listeners, beats),
        reloader: reloader, eventLoops: eventLoops)
}

/// Everything that runs, in dependency order.
private func lifecycle(
    _ adapters: Adapters, _ services: Services, _ configuration: DaemonConfiguration, _ dependencies: Dependencies,
    _ eventLoops: MultiThreadedEventLoopGroup, _ backlog: BacklogMonitor, _ callers: CallerHealth,
    _ health: HealthMonitor,
    _ listeners: Listeners.Bound, _ beats: HeartbeatTimes
) -> [any Service] {
    let (notifier, clock, logger) = (dependencies.notifier, ContinuousClock(), dependencies.logger)
    let heartbeats = watchdogHeartbeats(eventLoops, adapters.curl, adapters.store, services.refunds.dispatcher)
        .map(beats.noting)
    let audit = AuditService(audit: adapters.audit, configuration: configuration, logger: logger)
    let store: [any Service] = [
        WatchdogService(asking: heartbeats, health: health, dependencies), StoreService(store: adapters.store), audit,
        PeriodicService.auditHeads(audit, clock: clock), PeriodicService.auditRetries(adapters.audit, clock: clock),
        PeriodicService.authenticationFailures(services.access.failures, clock: clock),
        PeriodicService.auditRetention(adapters.audit, time: services.clock, clock: clock, logger: logger),
        PeriodicService.callers(services.access, callers, clock: clock),
        PeriodicService.retention(
            of: adapters.store, policy: configuration.retention, time: services.clock, clock: clock, logger: logger),
    ]
    let apple: [any Service] = [
        PeriodicService.budgets(adapters.checkpoint, clock: clock, logger: logger),
        PeriodicService.memory(clock: clock, save: adapters.client.saveMemory),
        PeriodicService.keys(adapters.custodian, clock: clock),
        PeriodicService.keyDirectories(adapters.custodian, clock: clock),
        CurlService(client: adapters.curl), CurlService(client: adapters.callbackCurl),
        PeriodicService.callbacks(
            CallbackGauges(store: adapters.store, metrics: adapters.metrics), clock: clock),
        PeriodicService.refundDecisions(
            RefundDecisionCounters(store: adapters.store, metrics: adapters.metrics), clock: clock),
        PeriodicService.refundRequests(
            RefundRequestGauges(
                reports: services.refunds.reports, apps: services.apps, metrics: adapters.metrics,
                now: services.clock.now), clock: clock),
        PeriodicService.tokens(adapters.minter, of: services.apps, clock: clock),
        PeriodicService.tokenUses(adapters.minter, of: services.apps, clock: clock),
    ]
    let work: [any Service] = services.loops.map(WorkService.init)
    let leaving: [any Service] = [
        StoppingService(notifier: notifier, logger: logger),
        PeriodicService.backlog(backlog, health: health, notifier: notifier, clock: clock, logger: logger) {
            services.refunds.history?.searchSoon()
        },
    ]
    let serving: [any Service] = [
        // Told to stop before the listeners, so that nobody who waits for events holds them up.
        WorkService(work: services.operations.events.run),
        ReadinessService(
            health: health, notifier: notifier, drainDelay: configuration.shutdown.drainDelay,
            announceEnd: { for target in listeners.targets { target.listener.announceEnd() } }, logger: logger),
    ]
    let certificates = PeriodicService.certificates(
        listeners.certificates.map(\.certificates), now: services.clock.now, clock: clock)
    return store + apple + work + leaving + [certificates] + listeners.services + serving
}

/// Tells of what is of no use as the configuration is now: callers whose names it has taken, keys of callers that are gone.
func warnOfOrphans(_ access: Access, logger: Logger) {
    if access.resolver.knowsNobody {
        logger.notice(
            "There is no caller yet: every call of /v1 is answered with 401 until `purser callers add` has added one")
    }
    for caller in access.administration.callers() {
        if caller.isShadowed {
            logger.warning(
                "A caller of the store stands for nobody, as the configuration has its name; remove either",
                metadata: ["caller": "\(caller.name)"])
        }
        for binding in caller.bindings where binding.state == .orphaned && !caller.isShadowed {
            logger.warning(
                "A binding stands for another caller, as the configuration says; unbind it, or put the configuration right",
                metadata: [
                    "caller": "\(caller.name)", "binding": "\(CallerCredential.binding(binding.binding).text)",
                ])
        }
        for key in caller.keys where key.state == .orphaned {
            logger.warning(
                "A caller key stands for nobody; revoke it, or put the configuration right",
                metadata: ["caller": "\(caller.name)", "app": "\(key.key.app)", "key": "\(key.key.id)"])
        }
    }
}

extension Services.Settings {
    /// What the configuration says to services.
    init(_ configuration: DaemonConfiguration) {
        self.init(apps: AppCatalog(configuration.apps))
        callers = configuration.callers.map(\.configured)
        callerPolicy = configuration.access
        dispatch = DispatchPolicy(
            concurrency: configuration.deliveries.concurrency, attemptTime: configuration.apple.deadline)
        consumptionWait = configuration.deliveries.wait
        consumptionLookUp = configuration.deliveries.lookUp
        refundPolicies = configuration.refundPolicies
        warnBefore = configuration.cases.warnBefore
        receipts = configuration.receipts.policy
        callbacks = configuration.callbacks.policy
        retention = configuration.retention
        history = configuration.notifications.history
        snapshots = (configuration.snapshots.lifetime, configuration.snapshots.maximumBytes)
    }
}
