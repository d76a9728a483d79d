import AppStoreClient
import CoreMetrics
import Curl
import Domain
import Foundation
import KeyCustody
import Logging
import OpenSSL

/// Makes calls to what stands for Apple and tells the processor time that they took.
struct UpstreamProbe: Probe {
    static let name = "upstream"

    /// Whose calls they are.
    enum Client: String, Codable, Sendable {
        /// The HTTP client by itself.
        case curl
        /// The HTTP client that most Swift services use, which ours is compared with.
        case asyncHTTPClient
        /// All that a call of Apple's goes through: token, budget, breaker, sharing, attempt, metrics.
        case appStore
    }

    struct Outcome: Codable, Sendable {
        let processorSeconds: Double
        let elapsedSeconds: Double
    }

    let client: Client
    /// The folder of the fixtures.
    let fixtures: String
    let port: Int
    let calls: Int
    let inFlight: Int

    func run() async throws -> Outcome {
        switch client {
        case .asyncHTTPClient: try await measureAsyncHTTPClient()
        case .curl, .appStore: try await measureCurl()
        }
    }

    /// What one call of the HTTP client alone asks for.
    func url(_ index: Int) -> String { "https://localhost:\(port)/inApps/v1/subscriptions/extend/mass/gems/\(index)" }

    var certificateAuthorityFile: String { "\(fixtures)/ca.pem" }

    private func measureCurl() async throws -> Outcome {
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = certificateAuthorityFile
        let curl = try CurlClient(configuration: configuration)
        let minter = try minter()
        let app = App(slug: "coins", bundleID: Fixtures.bundleID)
        let token = try minter.token(for: app)
        let appStore = try appStore(curl, minter)
        let outcome = try await measure { [client] index in
            switch client {
            case .appStore:
                _ = try await appStore.massExtensionStatus(
                    productID: "gems", requestIdentifier: "\(index)",
                    UpstreamCall(app: app, environment: .sandbox, deadline: .now.advanced(by: .seconds(30))))
            case .curl, .asyncHTTPClient:
                let response = try await curl.perform(
                    CurlRequest(
                        .get, url(index),
                        headers: [("Authorization", "Bearer \(token.value)"), ("Accept", "application/json")]))
                guard response.status == 200 else { throw BenchError("status \(response.status)") }
            }
        }
        await curl.shutdown()
        return outcome
    }

    /// Makes all calls, a number of them at a time.
    func measure(_ call: @escaping @Sendable (_ index: Int) async throws -> Void) async throws -> Outcome {
        // The first call makes the connection.
        try await call(calls)
        let clock = ContinuousClock()
        let start = clock.now
        let used = processorSeconds()
        try await withThrowingTaskGroup { group in
            for first in 0..<inFlight {
                group.addTask {
                    for index in stride(from: first, to: calls, by: inFlight) { try await call(index) }
                }
            }
            try await group.waitForAll()
        }
        return Outcome(
            processorSeconds: processorSeconds() - used, elapsedSeconds: start.duration(to: clock.now).inSeconds)
    }

    private func minter() throws -> TokenMinter {
        let declaration = KeyDeclaration(
            keyID: Fixtures.keyID, issuerID: Fixtures.issuerID, path: "\(fixtures)/api.p8",
            source: .file(allowsGroupRead: false), state: .active, apps: ["coins"])
        return TokenMinter(
            keys: try KeyRing(loading: [declaration]), clock: ServiceClock(now: { Date() }),
            audit: UnrecordedAudit(), metrics: NOOPMetricsHandler.instance, logger: Self.logger)
    }

    private func appStore(_ curl: CurlClient, _ minter: TokenMinter) throws -> AppStoreClient {
        let root = try Certificate(der: Array(Data(contentsOf: URL(filePath: "\(fixtures)/root.der"))))
        return AppStoreClient(
            configuration: UpstreamConfiguration(
                baseURLs: [.sandbox: "https://localhost:\(port)"], connectTimeout: .seconds(5),
                attemptTimeout: .seconds(15), maximumResponseBytes: 8 << 20),
            client: curl, tokens: minter,
            budget: RateBudgets(policy: RatePolicy(limits: [:]), clock: BudgetClock(now: { Date() })),
            verifier: SignedDataVerifier(roots: [root], now: { Date() }), memory: ForgetfulMemory(),
            releases: ForgetfulMemory(), answers: ForgetfulMemory(), clock: ServiceClock(now: { Date() }),
            meter: UpstreamMeter(factory: NOOPMetricsHandler.instance),
            logger: Self.logger)
    }

    private static var logger: Logger { Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() } }
}

/// Remembers nothing; the calls of this probe need no memory.
private struct ForgetfulMemory: TransactionMemory, ReleaseMemory, AppleAnswerStore {
    var erasures: Int { 0 }

    func keep(
        _ answers: [AppleAnswer], notedAfter count: Int, at now: Date
    ) async throws(ServiceError) {}

    func known(app: String, identifiers: Set<String>) async throws(ServiceError) -> [KnownIdentifier] { [] }

    func identifiers(
        of appTransactionID: String, app: String, environment: AppStoreEnvironment, limit: Int
    ) async throws(ServiceError) -> Set<String> { [] }

    func remember(_ entries: [KnownIdentifier], app: String) async throws(ServiceError) {}

    func hasRelease(bundleID: String) async throws(ServiceError) -> Bool { false }

    func rememberReleases(ofBundleIDs bundleIDs: Set<String>) async throws(ServiceError) {}
}
