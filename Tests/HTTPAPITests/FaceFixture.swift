import CoreMetrics
import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import JSON
import Logging
import NIOCore
import NIOEmbedded
import TestSupport

/// The api face over an in-memory App Store and store, asked without a socket.
struct FaceFixture {
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

    let gateway: FakeAppStoreGateway
    let links = InMemoryLinkStore()
    let budgets: RateBudgets
    let face: Face

    init(
        accounts: [[Transaction]] = [], scopes: Set<Scope> = Set(Scope.allCases), pageSize: Int = 20,
        maximumBodyBytes: Int = 1024
    ) {
        gateway = FakeAppStoreGateway(accounts: accounts, pageSize: pageSize)
        let apps = AppCatalog([Self.app, App(slug: "gems", bundleID: "com.example.gems", environments: [.sandbox])])
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let services = Self.services(apps, gateway, links, logger)
        budgets = services.budgets
        let caller = Caller(name: "billing", scopes: ["coins": scopes])
        face = Face(
            Face.Options(name: "api", maximumBodyBytes: maximumBodyBytes, deadline: .seconds(60)),
            routes: Routes.api(services),
            authenticator: Authenticator(
                callers: CallerDirectory(
                    credentials: [.init(caller: caller, tokenDigest: Array(Self.token.utf8))], digest: { $0 })),
            metrics: NOOPMetricsHandler.instance, now: { Date(timeIntervalSince1970: 1_700_000_000) },
            makeRequestID: { "made-here" }, logger: logger)
    }

    /// The services behind every route, over the given parts.
    static func services(
        _ apps: AppCatalog, _ gateway: FakeAppStoreGateway, _ links: InMemoryLinkStore, _ logger: Logger
    ) -> APIServices {
        let now: WallClock = { Date(timeIntervalSince1970: 1_700_000_000) }
        let memory = InMemoryTransactionMemory()
        return APIServices(
            apps: apps, gateway: gateway,
            consumption: ConsumptionService(
                gateway: gateway, links: links, now: now, makeID: { _ in "018c0000-0000-7000-8000-000000000000" },
                logger: logger),
            overview: UserOverviewService(gateway: gateway, links: links, memory: memory, now: now),
            purchases: UserPurchasesService(
                gateway: gateway, links: links, memory: memory,
                snapshots: SnapshotCache(lifetime: .seconds(600), maximumBytes: 1_000_000),
                tokens: PageTokenCoder(
                    authenticationCode: { content in [UInt8](repeating: content.reduce(0, ^), count: 32) },
                    encode: { Data($0).base64EncodedString() }, decode: { Data(base64Encoded: $0).map(Array.init) }),
                now: now, makeSnapshotID: { UUID().uuidString }),
            subscriptions: UserSubscriptionsService(gateway: gateway, links: links, memory: memory, now: now),
            links: LinkService(store: links, now: now),
            budgets: RateBudgets(
                policy: RatePolicy(
                    limits: [
                        .production: ["Get Refund History": RateLimit(callsPerHour: 1000, reservedPercent: 20)]
                    ],
                    quotas: ["billing": 500]),
                clock: BudgetClock(now: now)),
            now: now)
    }

    /// Sends one request.
    func send(
        _ method: HTTPRequest.Method, _ target: String, body: String? = nil, token: String? = Self.token,
        headers: HTTPFields = [:]
    ) async throws -> Reply {
        var fields = headers
        if let token { fields[.authorization] = "Bearer \(token)" }
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let response = await face.respond(to: request, from: EmbeddedChannel())
        let collector = BodyCollector()
        try await response.body.write(collector)
        return Reply(
            status: response.status.code, headers: response.headers, body: collector.bytes)
    }
}

/// Keeps what a response body writes.
final class BodyCollector: ResponseBodyWriter {
    // Written by one task at a time: the body's own.
    nonisolated(unsafe) private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws { bytes += Array(buffer.readableBytesView) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
