import CoreMetrics
import Domain
import HTTPAPI
import Listener
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TraceContext

/// The listeners of the configuration, each with its listener of the API.
struct Listeners {
    let configuration: DaemonConfiguration
    let services: Services
    let proxy: any AppleProxy
    let health: HealthMonitor
    let reloader: any ConfigurationReloader
    let metrics: PrometheusRegistry
    let tracing: TraceScope
    let eventLoops: MultiThreadedEventLoopGroup
    /// Those whose sockets are there already.
    let inherited: InheritedListeners
    let logger: Logger
    let requestIDs = RequestIDs()
    let turns = EventLoopTurns()

    /// Listeners that are bound, with their addresses by name.
    struct Bound {
        var addresses: [String: BoundAddress] = [:]
        var services: [any Service] = []
        /// What a reload changes of each, in their order.
        var targets: [Reloader.Target] = []
        /// The TLS of those that have it, by name, in their order.
        var certificates: [(name: String, certificates: ListenerCertificates)] = []
        /// How much each has to do at this moment, by name, in their order.
        var loads: [(name: String, load: @Sendable () -> (connections: Int, requests: Int))] = []
    }

    /// Binds them all; those that must answer to the end come first.
    ///
    /// - Throws: `ListenerError` of the first that cannot be bound.
    func bind() async throws -> Bound {
        var bound = Bound()
        let listeners = configuration.listeners
        let text = metrics
        try await add("health", listeners.health, to: &bound, authenticator: nil) {
            Routes.health(health) { text.render($0) }
        }
        try await add("admin", listeners.admin, to: &bound, authenticator: nil) {
            adminRoutes
        }
        try await addGRPC("grpcAdmin", listeners.grpcAdmin, of: .admin, to: &bound)
        try await add(
            "api", listeners.api, to: &bound, authenticator: Authenticator(services.access)
        ) {
            apiRoutes
        }
        try await addGRPC("grpc", listeners.grpc, of: .api, to: &bound)
        try await add("webhook", listeners.webhook, to: &bound, authenticator: nil) {
            Routes.webhook(services)
        }
        try await addAppleProxy("appleProduction", listeners.appleProduction, to: .production, in: &bound)
        try await addAppleProxy("appleSandbox", listeners.appleSandbox, to: .sandbox, in: &bound)
        return bound
    }

    /// What operators may ask for.
    var adminRoutes: [Route] { Routes.admin(services, health: health, reloader: reloader) }
    /// What internal services may ask for.
    var apiRoutes: [Route] { Routes.api(services) }

    private func add(
        _ name: String, _ settings: ListenerSettings?, to bound: inout Bound, authenticator: Authenticator?,
        routes: () -> [Route]
    ) async throws {
        guard let settings else { return }
        let options = RequestHandler.CurrentOptions(options(name, settings))
        let handler = RequestHandler(
            options, routes: routes(), authenticator: authenticator, metrics: metrics,
            now: services.clock.now,
            makeRequestID: requestIDs.make, logger: logger)
        var listenerConfiguration = ListenerConfiguration(name, settings)
        listenerConfiguration.sharesRequestsByCaller = authenticator != nil
        listenerConfiguration.refusal = handler.refusal
        if name == "webhook" {
            let apps = services.apps
            listenerConfiguration.holder = { Routes.webhookHolder(of: $0, from: $1, apps) }
        }
        let listener = Listener(
            configuration: listenerConfiguration,
            answering: { request, channel, connection in
                await handler.respond(
                    to: request, from: channel, provenBy: PeerIdentity(connection.peer),
                    slot: connection.slot)
            }, answeringOverload: handler.shed, eventLoopGroup: eventLoops, turns: turns,
            inheriting: inherited[name], logger: logger)
        try await bind(listener, name, options, in: &bound)
    }

    private func addAppleProxy(
        _ name: String, _ settings: ListenerSettings?, to environment: AppStoreEnvironment, in bound: inout Bound
    ) async throws {
        guard let settings else { return }
        let options = RequestHandler.CurrentOptions(options(name, settings))
        let handler = AppleProxyHandler(
            options,
            calls: AppleProxyCalls(
                environment: environment, proxy: proxy, consumption: services.refunds.consumption,
                tokens: services.purchases.tokens),
            authenticator: Authenticator(services.access), metrics: metrics,
            now: services.clock.now,
            makeRequestID: requestIDs.make, logger: logger)
        var listenerConfiguration = ListenerConfiguration(name, settings)
        listenerConfiguration.sharesRequestsByCaller = true
        let listener = Listener(
            configuration: listenerConfiguration,
            answering: { request, channel, connection in
                await handler.respond(to: request, from: channel, slot: connection.slot)
            },
            answeringOverload: handler.shed, eventLoopGroup: eventLoops, turns: turns,
            inheriting: inherited[name], logger: logger)
        try await bind(listener, name, options, in: &bound)
    }

    private func bind(
        _ listener: Listener, _ name: String, _ options: RequestHandler.CurrentOptions, in bound: inout Bound
    ) async throws {
        note(listener, at: try await listener.bind(), name, options, running: listener, in: &bound)
    }

    /// Takes note of a listener that is bound; `service`: what runs it.
    func note(
        _ listener: Listener, at address: BoundAddress, _ name: String, _ options: RequestHandler.CurrentOptions,
        running service: any Service, in bound: inout Bound
    ) {
        bound.addresses[name] = address
        bound.services.append(service)
        bound.loads.append((name, { (listener.openConnections, listener.requestsInProgress) }))
        bound.targets.append(
            Reloader.Target(name: name, listener: listener) { settings in
                listener.takeLimits(of: ListenerConfiguration(name, settings))
                options.replace(with: self.options(name, settings))
            })
        if let certificates = listener.certificates { bound.certificates.append((name, certificates)) }
    }

    func options(_ name: String, _ settings: ListenerSettings) -> RequestHandler.Options {
        var options = RequestHandler.Options(
            name: name, maximumBodyBytes: settings.maximumBodyBytes, deadline: configuration.apple.deadline,
            trustedProxies: settings.trustedProxies, isForOperators: ["admin", "grpcAdmin"].contains(name))
        options.tracing = tracing
        return options
    }
}

extension ConnectionSlot: RequestSlot {}

extension PeerIdentity {
    /// What a connection proves.
    init(_ peer: ConnectionPeer) {
        self.init(
            unixPeer: (peer.credentials).map { UnixPeer(uid: $0.uid, gid: $0.gid) },
            certificate: (peer.certificate).map { ClientCertificate(uris: $0.uris, notAfter: $0.notAfter) })
    }
}

extension ListenerConfiguration {
    init(_ name: String, _ settings: ListenerSettings) {
        self.init(name: name, address: settings.address)
        socketGroup = settings.group
        maximumConnections = settings.maximumConnections
        maximumRequests = settings.maximumRequests
        maximumHeaderBytes = settings.maximumHeaderBytes
        maximumBodyBytes = settings.maximumBodyBytes
        idleTimeout = settings.idleTimeout
        tls = settings.tls
        sourceName = { SourceNetwork.name(of: $0) }
        let proxies = settings.trustedProxies
        guard !proxies.isEmpty else { return }
        source = { request, peer in proxies.source(of: request, from: peer) }
    }
}
