import CoreMetrics
import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import HummingbirdCore
import JSON
import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing
import TraceContext

/// The listeners for services and for Apple over a real store and an in-memory App Store, asked without a socket.
struct RequestHandlerFixture {
    /// What came back.
    struct Reply {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]

        /// The body as JSON.
        var json: JSONValue {
            get throws { try JSONValue(parsing: body) }
        }
    }

    static let token = "prs_secret"
    static let app = App(
        slug: "coins", bundleID: "com.example.coins", appAppleID: 1, environments: [.production, .sandbox],
        additionalConsumptionFields: ["futureField"])

    static let apps = AppCatalog([app, App(slug: "gems", bundleID: "com.example.gems", environments: [.sandbox])])

    let stack: ServiceStack
    let handler: RequestHandler
    let webhook: RequestHandler
    let admin: RequestHandler

    var gateway: FakeAppStoreGateway { stack.gateway }

    init(
        accounts: [[Transaction]] = [], scopes: Set<Scope> = Set(Scope.allCases), pageSize: Int = 20,
        maximumBodyBytes: Int = 1024, consumptionWait: Duration = Wait.limit, now: Date = ServiceStack.now,
        tracing: TraceScope = TraceScope(), gems: Set<Scope> = [],
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws {
        let stack = try await ServiceStack(
            apps: Self.apps, accounts: accounts, pageSize: pageSize, consumptionWait: consumptionWait, now: now)
        self.init(
            stack, scopes: scopes, maximumBodyBytes: maximumBodyBytes, tracing: tracing, gems: gems, logger: logger)
    }

    /// Listeners over services that others use too.
    ///
    /// `scopes` and `gems`: what the caller holds for `coins` and for `gems`.
    init(
        _ stack: ServiceStack, scopes: Set<Scope>, maximumBodyBytes: Int = 1024,
        trustedProxies: TrustedProxies = TrustedProxies(), bindings: Set<CallerBinding> = [],
        metrics: any MetricsFactory = NOOPMetricsHandler.instance, tracing: TraceScope = TraceScope(),
        gems: Set<Scope> = [],
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.stack = stack
        let caller = Caller(name: "billing", scopes: ["coins": scopes, "gems": gems])
        let registry = CallerRegistry(
            configured: [ConfiguredCaller(caller, tokenDigests: [Array(Self.token.utf8)], bindings: bindings)],
            now: { ServiceStack.now })
        let tokens = CallerTokenChecker(
            issuerID: "", registry: registry, apps: Self.apps, now: { ServiceStack.now }, read: { _ in nil })
        let authenticator = Authenticator(
            resolver: CallerResolver(registry: registry, tokens: tokens, digest: { $0 }, now: { ServiceStack.now }),
            failedAttempts: FailedAttempts())
        func handler(_ name: String, _ bytes: Int, _ routes: [Route], _ authenticator: Authenticator?) -> RequestHandler
        {
            var options = RequestHandler.Options(
                name: name, maximumBodyBytes: bytes, deadline: Wait.limit, trustedProxies: trustedProxies,
                isForOperators: name == "admin")
            options.tracing = tracing
            return RequestHandler(
                options, routes: routes,
                authenticator: authenticator, metrics: metrics, now: { ServiceStack.now },
                makeRequestID: { "made-here" }, logger: logger)
        }
        self.handler = handler("api", maximumBodyBytes, Routes.api(stack.services), authenticator)
        webhook = handler(
            "webhook", Routes.maximumNotificationBytes,
            Routes.webhook(stack.services), nil)
        admin = handler("admin", 4096, Routes.admin(stack.services, health: NoHealth(), reloader: NoReloader()), nil)
    }

    /// Sends one request, over a connection from an address or, without one, over a Unix socket.
    func send(
        _ method: HTTPRequest.Method, _ target: String, body: String? = nil, token: String? = Self.token,
        headers: HTTPFields = [:], peer: String? = nil, provenBy identity: PeerIdentity? = nil,
        as call: RequestHandler.Call? = nil,
        to handler: KeyPath<RequestHandlerFixture, RequestHandler> = \.handler
    ) async throws -> Reply {
        var fields = headers
        if let token { fields[.authorization] = "Bearer \(token)" }
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let channel = EmbeddedChannel()
        if let peer { channel.remoteAddress = try SocketAddress(ipAddress: peer, port: 4711) }
        let unixPeer = peer == nil ? PeerIdentity.UnixPeer(uid: 1000, gid: 1000) : nil
        let response = await self[keyPath: handler].respond(
            to: request, from: channel, provenBy: identity ?? PeerIdentity(unixPeer: unixPeer), as: call)
        let collector = BodyCollector()
        try await response.body.write(collector)
        let listener = handler == \.handler ? "api" : handler == \.webhook ? "webhook" : "admin"
        let documented = try #require(try DocumentedAnswers.all.get()[listener])
        #expect(
            documented.isListed(response.status.code, for: method, target),
            "\(method.rawValue) \(target) is answered with \(response.status.code), which api/openapi.yaml does not list"
        )
        return Reply(
            status: response.status.code, headers: response.headers, body: collector.bytes)
    }
}

/// A daemon without health to tell of.
struct NoHealth: HealthReporter {
    func isReady() async -> Bool { true }
    func report() async -> HealthReport { HealthReport(isReady: true, parts: [], upstream: "apple", version: "0") }
    func keys() async -> [KeyStatus] { [] }
}

/// Keeps what a response body writes.
final class BodyCollector: ResponseBodyWriter {
    // Written by one task at a time: the body's own.
    nonisolated(unsafe) private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws { bytes += Array(buffer.readableBytesView) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Has no configuration to read.
struct NoReloader: ConfigurationReloader {
    func reload(by actor: Domain.Actor) async throws(ServiceError) -> ConfigurationReload {
        throw ServiceError(.configurationInvalid, "There is no configuration.")
    }
}
