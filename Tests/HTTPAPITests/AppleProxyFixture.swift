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
import Synchronization
import TestSupport

/// A door over an Apple that answers as it is told, asked without a socket.
///
/// A token is the id of the key that signs it; the checker's own tests see to its claims.
struct AppleProxyFixture {
    static let key = "SHOPKEYAAA"
    static let now = Date(timeIntervalSince1970: 1_700_000_000.5)

    let proxy = FakeAppleProxy()
    let stack: ServiceStack
    private let keys = InMemoryCallerStore()
    private let registry = CallerRegistry(configured: [], now: { Self.now })
    let handler: AppleProxyHandler

    var gateway: FakeAppStoreGateway { stack.gateway }

    init(
        accounts: [[Transaction]] = [], scopes: Set<Scope> = Set(Scope.allCases),
        environments: Set<AppStoreEnvironment> = [.production, .sandbox], maximumBodyBytes: Int = 10 << 20,
        deadline: Duration = Wait.limit
    ) async throws {
        let apps = AppCatalog([
            App(
                slug: "coins", bundleID: "com.example.coins", environments: environments,
                additionalConsumptionFields: ["futureField"])
        ])
        stack = try await ServiceStack(apps: apps, accounts: accounts)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let tokens = CallerTokenChecker(
            issuerID: "issuer", registry: registry, apps: apps, now: { Self.now }, read: Self.token)
        let calls = AppleProxyCalls(
            environment: .production, proxy: proxy, consumption: stack.services.refunds.consumption,
            tokens: stack.services.purchases.tokens)
        handler = AppleProxyHandler(
            RequestHandler.CurrentOptions(
                RequestHandler.Options(name: "appleProduction", maximumBodyBytes: maximumBodyBytes, deadline: deadline)),
            calls: calls,
            authenticator: Authenticator(
                resolver: CallerResolver(registry: registry, tokens: tokens, digest: { $0 }, now: { Self.now }),
                failedAttempts: FailedAttempts()), metrics: NOOPMetricsHandler.instance,
            now: { Self.now }, makeRequestID: { "made-here" }, logger: logger)
        let key = CallerKey(
            id: Self.key, caller: "shop", app: "coins", publicKey: Array(Self.key.utf8), scopes: nil,
            createdAt: Self.now)
        _ = try await keys.updateCaller("shop") { _ in
            StoredCaller(name: "shop", createdAt: Self.now, grants: ["coins": scopes])
        }
        _ = try await keys.addCallerKey(key)
        try await registry.refresh(from: keys)
    }

    /// Revokes the key, and lets the door know.
    func revokeKey() async throws {
        _ = try await keys.revokeCallerKey(id: Self.key, caller: "shop", at: Self.now)
        try await registry.refresh(from: keys)
    }

    private static func token(_ text: String) -> CallerToken? {
        var token = CallerToken { $0 == Array(text.utf8) }
        token.keyID = text
        token.type = "JWT"
        token.issuer = "issuer"
        token.audience = ["appstoreconnect-v1"]
        token.expiresAt = now + 300
        token.bundleID = "com.example.coins"
        return token
    }

    /// Sends one request.
    func send(
        _ method: HTTPRequest.Method, _ target: String, body: [UInt8] = [], token: String? = Self.key,
        contentType: String? = nil
    ) async throws -> RequestHandlerFixture.Reply {
        var fields: HTTPFields = [:]
        if let token { fields[.authorization] = "Bearer \(token)" }
        fields[.contentType] = contentType
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
        let response = await handler.respond(to: request, from: EmbeddedChannel())
        let collector = BodyCollector()
        try await response.body.write(collector)
        return RequestHandlerFixture.Reply(
            status: response.status.code, headers: response.headers, body: collector.bytes)
    }
}

/// An Apple behind the door that knows six calls and answers as it is told.
final class FakeAppleProxy: AppleProxy {
    private struct State {
        var answer: Result<AppleProxyResponse, ServiceError> = .success(
            AppleProxyResponse(status: 200, contentType: "application/json", retryAfter: nil, body: Array("{}".utf8)))
        var forwarded: [(request: AppleProxyRequest, call: UpstreamCall)] = []
    }

    private let state = Mutex(State())

    private static let calls = [
        "GET /inApps/v1/transactions/1": AppleProxyCall(
            name: "Get Transaction Info", scope: .transactionsRead, kind: .forwarded),
        "GET /inApps/v2/refund/lookup/1": AppleProxyCall(
            name: "Get Refund History", scope: .refundsRead, kind: .forwarded),
        "PUT /inApps/v2/transactions/consumption/1": AppleProxyCall(
            name: "Send Consumption Information", scope: .consumptionWrite,
            kind: .consumption(.v2, transactionID: "1")),
        "PUT /inApps/v1/transactions/consumption/1": AppleProxyCall(
            name: "Send Consumption Information V1", scope: .consumptionWrite,
            kind: .consumption(.v1, transactionID: "1")),
        "PUT /inApps/v1/transactions/1/appAccountToken": AppleProxyCall(
            name: "Set App Account Token", scope: .transactionsWrite,
            kind: .appAccountToken(originalTransactionID: "1")),
        "PUT /inApps/v1/messaging/image/1": AppleProxyCall(
            name: "Upload Image", scope: .retentionMessagingManage, kind: .imageUpload),
        "POST /inApps/v1/notifications/test": AppleProxyCall(
            name: "Request a Test Notification", scope: .notificationsTest, kind: .forwarded),
    ]

    /// Everything that was passed on, in order.
    var forwarded: [(request: AppleProxyRequest, call: UpstreamCall)] { state.withLock(\.forwarded) }

    func answer(_ answer: Result<AppleProxyResponse, ServiceError>) { state.withLock { $0.answer = answer } }

    func match(method: String, path: String) -> AppleProxyMatch {
        if let call = Self.calls["\(method) \(path)"] { return .found(call) }
        let allowed = Self.calls.keys.filter { $0.hasSuffix(" \(path)") }.map { String($0.prefix { $0 != " " }) }
        return allowed.isEmpty ? .unknown : .otherMethod(allowed: allowed)
    }

    func forward(_ request: AppleProxyRequest, _ call: UpstreamCall) async throws(ServiceError) -> AppleProxyResponse {
        try state.withLock { state in
            state.forwarded.append((request, call))
            return state.answer
        }.get()
    }
}
