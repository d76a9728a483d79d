import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JOSE
import JSON
import OpenSSL
import Synchronization
import TestSupport
import Testing

/// A simulator on free ports with one team, its key and app, and a client that trusts it.
struct SimulatorFixture: Sendable {
    static let bundleID = "com.example.coins"
    static let keyID = "KEY1"
    static let issuerID = "team"

    let simulator: Simulator
    let clock: TestClock
    let key: ECPrivateKey
    /// The delays that faults asked for, none of which was waited for.
    let delays: Delays
    private let client: CurlClient

    final class Delays: Sendable {
        private let durations = Mutex<[Duration]>([])
        var all: [Duration] { durations.withLock { $0 } }
        func append(_ duration: Duration) { durations.withLock { $0.append(duration) } }
    }

    var state: SimulatorState { simulator.state }

    /// Runs a test with a simulator of its own.
    static func with(
        seed: UInt64 = 1, _ test: (SimulatorFixture) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "simulator-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let clock = TestClock()
        let delays = Delays()
        let simulator = try await Simulator.start(
            SimulatorConfiguration(
                stateDirectory: directory.path, seed: seed, now: { clock.now }, sleep: { delays.append($0) }))
        do {
            try await test(SimulatorFixture(simulator, clock, delays, directory: directory.path))
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    private init(
        _ simulator: Simulator, _ clock: TestClock, _ delays: Delays, directory: String
    ) throws {
        self.simulator = simulator
        self.clock = clock
        self.delays = delays
        key = try ECPrivateKey.generate()
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = directory + "/tls-ca.pem"
        // A connection that a busy machine neglects for a while is still there.
        configuration.maximumConnectionIdleTime = Wait.limit
        configuration.unacknowledgedDataTimeout = Wait.limit
        client = try CurlClient(configuration: configuration)
        state.notificationTimeout = Wait.limit
        try state.registerKey(key.publicKey, keyID: Self.keyID, issuerID: Self.issuerID)
        try state.register(RegisteredApp(bundleID: Self.bundleID, appAppleID: 1_234_567_890, issuerID: Self.issuerID))
    }

    // MARK: Purchases

    /// Lets an account buy something, which is a consumable unless changed.
    func buy(
        by accountID: String, _ change: (inout TransactionPayload) -> Void = { _ in }
    ) throws -> TransactionPayload {
        var purchase = TransactionPayload()
        purchase.bundleId = Self.bundleID
        purchase.productId = "coins.100"
        purchase.type = .consumable
        change(&purchase)
        return try state.buy(purchase, by: accountID)
    }

    /// An account with one consumable.
    func buyOnce(in environment: SimulatedEnvironment = .sandbox) throws -> TransactionPayload {
        try buy(by: state.createAccount(in: environment).id)
    }

    // MARK: Calls

    /// The claims of a good token.
    func claims() -> JWTClaims {
        JWTClaims(
            issuer: Self.issuerID, audience: ["appstoreconnect-v1"], issuedAt: clock.now,
            expiresAt: clock.now + 1200, others: ["bid": .string(Self.bundleID)])
    }

    /// Signs a token, good unless changed.
    func token(_ change: (inout JWTClaims) -> Void = { _ in }) throws -> String {
        var claims = claims()
        change(&claims)
        return try JWT.sign(claims, keyID: Self.keyID, with: key)
    }

    /// Makes one of Apple's calls.
    func call(
        _ endpoint: Endpoint, in environment: SimulatedEnvironment = .sandbox, body: [UInt8]? = nil,
        contentType: String = "application/json", token: String? = nil
    ) async throws -> CurlResponse {
        var headers = [(name: "Authorization", value: "Bearer \(try token ?? self.token())")]
        if body != nil { headers.append((name: "Content-Type", value: contentType)) }
        return try await send(
            endpoint.method, simulator.baseURL(environment) + endpoint.pathAndQuery, headers: headers, body: body)
    }

    /// Calls the control port with a JSON body.
    func control(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> HTTP1Client.Response {
        try await HTTP1Client(url: simulator.controlURL).send(method, path, body: body?.serialized() ?? [])
    }

    func send(
        _ method: String, _ url: String, headers: [(name: String, value: String)], body: [UInt8]? = nil
    ) async throws -> CurlResponse {
        let method = try #require(CurlRequest.Method(rawValue: method))
        let request = CurlRequest(
            method, url, headers: headers, body: body, connectTimeout: Wait.limit, totalTimeout: Wait.limit)
        return try await client.perform(request)
    }

    /// Expects one of Apple's errors.
    func expect(
        _ error: APIErrorCode, from endpoint: Endpoint, in environment: SimulatedEnvironment = .sandbox,
        body: [UInt8]? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let response = try await call(endpoint, in: environment, body: body)
        let payload = try ErrorPayload(parsing: response.body)
        #expect(response.status == error.httpStatus, sourceLocation: sourceLocation)
        #expect(response.headers["Content-Type"] == "application/json", sourceLocation: sourceLocation)
        #expect(payload.errorCode == error.code ?? 4_000_000, sourceLocation: sourceLocation)
        if error.code == nil {
            #expect(payload.errorMessage?.hasPrefix(error.name) == true, sourceLocation: sourceLocation)
        }
    }

    /// Verifies a signed transaction as a client does and reads it.
    func verified(_ signed: String?) throws -> TransactionPayload {
        let token = try CompactJWS(try #require(signed))
        let header = try token.parseHeader()
        let certificates = try #require(header.certificateChain)
        try #require(certificates.count == 3)
        let chain = try CertificateChain.verify(
            leaf: certificates[0], intermediate: certificates[1], roots: [simulator.root], at: clock.now,
            requiredLeafExtension: "1.2.840.113635.100.6.11.1",
            requiredIntermediateExtension: "1.2.840.113635.100.6.2.1")
        try token.verify(with: chain.leafPublicKey, header: header)
        return try TransactionPayload(parsing: token.decodePayload())
    }
}
