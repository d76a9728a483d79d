import AppStoreAPI
import CoreMetrics
import Curl
import Domain
import Foundation
import Logging
import TestSupport

@testable import AppStoreClient

/// A client with real libcurl before a server that plays Apple: Production below `/production`, Sandbox below `/sandbox`.
struct UpstreamFixture: Sendable {
    static let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)

    let client: AppStoreClient
    let server: LoopbackServer
    let clock: TestClock

    /// The parts that tests choose.
    struct Dependencies: Sendable {
        var clock = TestClock()
        /// What believes Apple's answers about the time; nobody when nil.
        var steady: SteadyClock?
        var tokens = FakeTokens()
        var budget = FakeBudget()
        var breaker = CircuitBreakerPolicy.standard
        var releases = InMemoryReleaseMemory()
        var answers = InMemoryAppleAnswers()
        var offersHTTP2 = true
        /// Whose data the client trusts; nobody's when nil.
        var signer: TestSigner?

        /// A client made of them that looks for Apple there.
        func client(_ baseURLs: [AppStoreEnvironment: String], _ curl: CurlClient) -> AppStoreClient {
            AppStoreClient(
                configuration: UpstreamConfiguration(
                    baseURLs: baseURLs, connectTimeout: Wait.limit, attemptTimeout: Wait.limit,
                    maximumResponseBytes: 1 << 20),
                client: curl, tokens: tokens, budget: budget,
                verifier: signer?.verifier ?? SignedDataVerifier(roots: [], now: { TestClock.date }),
                memory: InMemoryTransactionMemory(), releases: releases, answers: answers,
                retries: RetryPolicy(random: { 0 }),
                breaker: breaker, clock: clock.service(steady),
                meter: UpstreamMeter(factory: NOOPMetricsHandler.instance),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
    }

    /// Runs both.
    ///
    /// - Parameters:
    ///   - parts: what the client is made of; waits are as short as can be, and transfers have the time that a busy machine
    ///     needs.
    ///   - handler: answers as Apple.
    ///   - body: what to do with them.
    /// - Throws: what the closure throws.
    static func run(
        _ parts: Dependencies = Dependencies(), handler: @escaping LoopbackServer.Handler,
        during body: (UpstreamFixture) async throws -> Void
    ) async throws {
        var options = LoopbackServer.Options()
        options.offersHTTP2 = parts.offersHTTP2
        try await LoopbackServer.run(options, handler: handler) { server in
            var configuration = CurlConfiguration()
            configuration.certificateAuthorityFile = server.certificateAuthorityFile
            // A connection that a busy machine neglects for a while is still there.
            configuration.maximumConnectionIdleTime = Wait.limit
            configuration.unacknowledgedDataTimeout = Wait.limit
            let curl = try CurlClient(configuration: configuration)
            let client = parts.client(
                [.production: server.url + "/production", .sandbox: server.url + "/sandbox"], curl)
            do {
                try await body(UpstreamFixture(client: client, server: server, clock: parts.clock))
            } catch {
                await curl.shutdown()
                throw error
            }
            await curl.shutdown()
        }
    }

    /// The paths that the server was asked for, in order, with the token after a space.
    var calls: [String] {
        server.requests.map { "\($0.path) \($0.header("Authorization")?.dropFirst("Bearer ".count) ?? "")" }
    }

    func call(
        _ environment: AppStoreEnvironment? = .production, caller: String = "", seconds: Int = 3600
    ) -> UpstreamCall {
        UpstreamCall(app: Self.app, environment: environment, deadline: clock.after(.seconds(seconds)), caller: caller)
    }

    /// Makes a call of any operation, with `1` for every parameter of its path.
    func make(
        _ operation: Endpoint.Operation, body: String? = nil, _ call: UpstreamCall? = nil,
        in environment: AppStoreEnvironment = .production
    ) async -> CallResult<CurlResponse> {
        let count = operation.pathTemplate.count { $0 == "{" }
        let endpoint = Endpoint(operation, Array(repeating: "1", count: count))
        let request = UpstreamRequest(endpoint, body: body.map { Array($0.utf8) })
        return await Call(client, request, call ?? self.call(), in: environment).result()
    }
}

extension CallResult {
    /// Why the call failed, or nil.
    var reason: ServiceError.Reason? { error?.reason }

    var error: ServiceError? { failure?.error }
}

extension LoopbackServer.Response {
    /// An error as Apple words it.
    static func apple(_ code: Int, headers: [(name: String, value: String)] = []) -> Self {
        .init(status: code / 10_000, headers: headers, #"{"errorCode":\#(code),"errorMessage":"Message."}"#)
    }
}

/// The server's process has died.
struct Died: Error {}
