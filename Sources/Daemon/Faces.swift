import CoreMetrics
import Domain
import Foundation
import HTTPAPI
import Listener
import Logging
import NIOCore
import NIOPosix
import OpenSSL
import ServiceLifecycle

/// The listeners of the configuration, each with its face of the API.
struct Faces {
    let configuration: DaemonConfiguration
    let services: APIServices
    let health: HealthMonitor
    let metrics: PrometheusRegistry
    let now: WallClock
    let eventLoops: MultiThreadedEventLoopGroup
    let logger: Logger

    /// Listeners that are bound, with their addresses by name.
    struct Bound {
        var addresses: [String: BoundAddress] = [:]
        var services: [any Service] = []
    }

    /// Binds them all; those that must answer to the end come first.
    ///
    /// - Throws: `ListenerError` of the first that cannot be bound.
    func bind() async throws -> Bound {
        var bound = Bound()
        let listeners = configuration.listeners
        let text = metrics
        try await add("health", listeners.health, to: &bound, authenticator: nil) {
            Routes.health(health) { text.render() }
        }
        try await add("admin", listeners.admin, to: &bound, authenticator: nil) {
            Routes.admin(apps: services.apps, health: health)
        }
        try await add("api", listeners.api, to: &bound, authenticator: Authenticator(callers: callers)) {
            Routes.api(services)
        }
        return bound
    }

    private func add(
        _ name: String, _ settings: ListenerSettings?, to bound: inout Bound, authenticator: Authenticator?,
        routes: () -> [Route]
    ) async throws {
        guard let settings else { return }
        let face = Face(
            Face.Options(
                name: name, maximumBodyBytes: settings.maximumBodyBytes, deadline: configuration.apple.deadline),
            routes: routes(), authenticator: authenticator, metrics: metrics, now: now,
            makeRequestID: { UUID().uuidString.lowercased() }, logger: logger)
        let listener = Listener(
            configuration: ListenerConfiguration(name, settings), answering: face.respond(to:from:),
            eventLoopGroup: eventLoops, logger: logger)
        bound.addresses[name] = try await listener.bind()
        bound.services.append(listener)
    }

    private var callers: CallerDirectory {
        CallerDirectory(
            credentials: configuration.callers.map {
                CallerDirectory.Credential(caller: $0.caller, tokenDigest: $0.tokenDigest)
            },
            // A digest that cannot be computed matches no credential.
            digest: { (try? SHA256Digest.digest($0)) ?? [] })
    }
}

extension ListenerConfiguration {
    init(_ name: String, _ settings: ListenerSettings) {
        self.init(name: name, address: settings.address)
        maximumConnections = settings.maximumConnections
        maximumHeaderBytes = settings.maximumHeaderBytes
        maximumBodyBytes = settings.maximumBodyBytes
        idleTimeout = settings.idleTimeout
        tls = settings.tls
    }
}
