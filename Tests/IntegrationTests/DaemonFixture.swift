import AppStoreAPI
import AppStoreSimulator
import Daemon
import Domain
import Foundation
import FoundationNetworking
import JSON
import KeyCustody
import Listener
import Logging
import OpenSSL
import ServiceLifecycle
import Synchronization
import Systemd
import TestSupport
import Testing

/// A daemon and the simulator in one process, over real sockets, real libcurl and a real store; nothing outlives the scope.
struct DaemonFixture: Sendable {
    static let token = "prs_integration"
    static let bundleID = "com.example.coins"

    let simulator: Simulator
    let api: String
    /// Where it speaks gRPC.
    let grpc: BoundAddress
    let health: String
    /// Where Apple posts notifications; the simulator knows it.
    let webhook: String
    /// The Apple-compatible doors; empty when they are shut.
    let doors: [AppStoreEnvironment: String]
    let folder: URL
    let group: ServiceGroup
    /// What the service manager was told, in order.
    let notifications: Notifications

    /// What a test can choose.
    struct Options: Sendable {
        var environments: Set<AppStoreEnvironment> = [.production, .sandbox]
        var isReleasedToProduction = true
        var deadline = Wait.limit
        var drainDelay = Duration.zero
        /// Whether there are Apple-compatible doors, and an admin socket to issue keys for them.
        var hasDoors = false
        /// The TLS of the api listener, which then has an admin socket beside it to add callers; nil for plain HTTP.
        var apiTLS: ListenerTLS?
        /// The TLS of the grpc listener; nil for plain text.
        var grpcTLS: ListenerTLS?
        /// The longest message of gRPC, in bytes.
        var grpcMessageBytes = 1 << 20
        /// How many calls of gRPC are worked on at once.
        var grpcRequests = 256
        /// How refund cases are answered that nobody answers.
        var policy: RefundPolicy?
        /// The database; nil for a file in the fixture's folder.
        var store: StoreLocation?
        /// What the time of day is here.
        var now: WallClock = { Date() }
        /// Where Apple sends notifications.
        var notifications = NotificationTarget.nowhere
        /// Whether notifications that were missed are looked for.
        var searchesHistory = false
        /// Apple's id of the app, as the configuration has it; Apple's own is 42.
        var appAppleID: Int64 = 42
        /// The state of the key that signs for `coins`, `ABCDEFGHIJ` of team `issuer`.
        var keyState = KeyStatus.State.active
        /// Keys besides that one.
        var otherKeys: [OtherKey] = []
        /// Apps besides `coins`, which the App Store need not know yet.
        var otherApps: [App] = []
        /// Where callbacks may post.
        var callbacks = CallbacksConfiguration()
        /// Where an answer waits that a fault of the App Store delays; nil for as long as the fault says.
        var delays: Gate?
    }

    /// A key that the App Store knows as one of a team's.
    struct OtherKey: Sendable {
        let id: String
        let issuerID: String
        var state = KeyStatus.State.active
        let apps: [String]

        func file(in folder: URL) -> String { folder.appending(path: "\(id).p8").path }
    }

    /// Where Apple sends notifications.
    enum NotificationTarget {
        /// No URL is set.
        case nowhere
        case webhook
        /// A place where nobody listens.
        case deadEnd
    }

    /// Options for stories that notifications are part of.
    static let notified = Options(notifications: .webhook)

    /// Where the daemon listens for operators.
    var adminSocket: String { Self.adminSocket(in: folder) }
    /// Where operators' programs speak gRPC; a daemon with doors has it.
    var grpcAdminSocket: String { Self.grpcAdminSocket(in: folder) }

    private static func grpcAdminSocket(in folder: URL) -> String {
        folder.appending(path: "grpc-admin.sock").path
    }

    private static func adminSocket(in folder: URL) -> String {
        folder.appending(path: "admin.sock").path
    }

    /// Runs a daemon for the length of a closure.
    static func with(
        _ options: Options = Options(), body: @Sendable (DaemonFixture) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "purser-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = SimulatorConfiguration()
        if let delays = options.delays { configuration.sleep = { _ in await delays.pass() } }
        let simulator = try await Simulator.start(configuration)
        do {
            try await run(options, folder, simulator, body)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    /// Runs a daemon in a folder that may hold a store already.
    static func run(
        _ options: Options, _ folder: URL, _ simulator: Simulator,
        _ body: @Sendable (DaemonFixture) async throws -> Void
    ) async throws {
        simulator.state.notificationTimeout = Wait.limit
        let configuration = try configuration(options, folder, simulator)
        let notifications = Notifications()
        var dependencies = Dependencies(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        dependencies.notifier = Notifier { text throws(SystemdError) in notifications.add(text) }
        dependencies.now = options.now
        dependencies.loadConfiguration = { configuration }
        let daemon = try await makeDaemon(configuration: configuration, dependencies: dependencies)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: daemon.services, logger: dependencies.logger))
        let fixture = DaemonFixture(
            simulator: simulator, api: try url(daemon, "api"), grpc: try #require(daemon.addresses["grpc"]),
            health: try url(daemon, "health"),
            webhook: try url(daemon, "webhook") + "/webhooks/apple/coins",
            doors: options.hasDoors
                ? [
                    .production: try url(daemon, "appleProduction"),
                    .sandbox: try url(daemon, "appleSandbox"),
                ] : [:],
            folder: folder, group: group, notifications: notifications)
        try fixture.receiveNotifications(at: options.notifications)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await daemon.run(in: group) }
            do {
                try await body(fixture)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func receiveNotifications(at target: NotificationTarget) throws {
        if target == .nowhere { return }
        let text = target == .webhook ? webhook : "http://127.0.0.1:9/webhooks/apple/coins"
        let url = try #require(NotificationURL(text))
        for environment in SimulatedEnvironment.allCases {
            try simulator.state.setNotificationAddress(
                NotificationAddress(url: url), of: Self.bundleID, in: environment)
        }
    }

    private static func url(_ daemon: Daemon, _ name: String) throws -> String {
        "http://\(try #require(daemon.addresses[name]))"
    }

    /// Makes a key's file and registers it with the simulator, unless an earlier run has.
    private static func declare(_ key: OtherKey, _ folder: URL, _ simulator: Simulator) throws -> KeyDeclaration {
        let file = key.file(in: folder)
        if !FileManager.default.fileExists(atPath: file) {
            let pair = try ECPrivateKey.generate()
            try pair.pkcs8PEM().withUnsafeBytes { Data($0) }.write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            try simulator.state.registerKey(pair.publicKey, keyID: key.id, issuerID: key.issuerID)
        }
        return KeyDeclaration(
            keyID: key.id, issuerID: key.issuerID, path: file, source: .file(allowsGroupRead: false),
            state: key.state, apps: key.apps)
    }

    /// Registers app and keys with the simulator and describes them to the daemon.
    private static func configuration(
        _ options: Options, _ folder: URL, _ simulator: Simulator
    ) throws -> DaemonConfiguration {
        let main = OtherKey(id: "ABCDEFGHIJ", issuerID: "issuer", state: options.keyState, apps: ["coins"])
        let isFirstRun = !FileManager.default.fileExists(atPath: main.file(in: folder))
        let keys = try ([main] + options.otherKeys).map { try declare($0, folder, simulator) }
        if isFirstRun {
            try simulator.state.register(
                RegisteredApp(
                    bundleID: bundleID, appAppleID: 42, issuerID: "issuer",
                    isReleasedToProduction: options.isReleasedToProduction))
        }
        let root = folder.appending(path: "root.der")
        try Data(simulator.root.der).write(to: root)
        let authority = folder.appending(path: "tls-ca.pem")
        try Data(try simulator.tlsAuthority.pem().utf8).write(to: authority)
        let local = ListenerSettings(address: .tcp(host: "127.0.0.1", port: 0), idleTimeout: Wait.limit)
        let file = StoreLocation.sqlite(path: folder.appending(path: "purser.db").path)
        return DaemonConfiguration(
            store: options.store ?? file,
            masterKey: options.store.map { _ in .made(path: folder.appending(path: "purser.masterkey").path) },
            audit: AuditConfiguration(beside: file),
            listeners: ListenersConfiguration(
                api: ListenerSettings(
                    address: local.address, idleTimeout: Wait.limit, tls: options.apiTLS),
                grpc: ListenerSettings(
                    address: local.address, maximumRequests: options.grpcRequests,
                    maximumBodyBytes: options.grpcMessageBytes, idleTimeout: Wait.limit,
                    tls: options.grpcTLS, reflection: true),
                webhook: local,
                admin: options.hasDoors || options.apiTLS != nil
                    ? ListenerSettings(address: .unix(path: adminSocket(in: folder), mode: 0o600)) : nil,
                grpcAdmin: options.hasDoors
                    ? ListenerSettings(
                        address: .unix(path: grpcAdminSocket(in: folder), mode: 0o600), maximumRequests: nil,
                        idleTimeout: Wait.limit) : nil,
                health: local, appleProduction: options.hasDoors ? local : nil,
                appleSandbox: options.hasDoors ? local : nil),
            apple: AppleConfiguration(
                rootCertificateFiles: [root.path],
                upstream: CustomUpstream(
                    production: simulator.baseURL(.production), sandbox: simulator.baseURL(.sandbox)),
                certificateAuthorityFile: authority.path, connectTimeout: Wait.limit, attemptTimeout: Wait.limit,
                deadline: options.deadline),
            keys: keys,
            apps: [
                App(
                    slug: "coins", bundleID: bundleID, appAppleID: options.appAppleID,
                    environments: options.environments)
            ] + options.otherApps,
            refundPolicies: options.policy.map { ["coins": $0] } ?? [:],
            callers: [
                CallerConfiguration(
                    caller: Caller(
                        name: "billing",
                        scopes: Dictionary(
                            uniqueKeysWithValues: (["coins"] + options.otherApps.map(\.slug)).map {
                                ($0, Set(Scope.allCases))
                            })),
                    tokenDigest: try SHA256Digest.digest(Array(token.utf8)))
            ],
            deliveries: DeliveriesConfiguration(wait: Wait.limit, lookUp: Wait.limit),
            notifications: NotificationsConfiguration(
                history: options.searchesHistory ? .standard : nil),
            receipts: ReceiptsConfiguration(wait: Wait.limit), callbacks: options.callbacks,
            shutdown: ShutdownConfiguration(drainDelay: options.drainDelay))
    }
}

/// Keeps what the service manager is told.
final class Notifications: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock(\.self) }

    func add(_ text: String) -> Bool {
        texts.withLock { $0.append(text) }
        return true
    }
}

/// The time of day, which a test can put forward.
final class MovableTime: Sendable {
    private let offset = Mutex(TimeInterval.zero)

    @Sendable func now() -> Date { Date().addingTimeInterval(offset.withLock(\.self)) }

    func advance(by seconds: TimeInterval) { offset.withLock { $0 += seconds } }
}

// MARK: Asking

extension DaemonFixture {
    /// What came back.
    struct Reply: Sendable {
        let status: Int
        let headers: [String: String]
        let body: [UInt8]

        var json: JSONValue {
            get throws { try JSONValue(parsing: body) }
        }
    }

    /// Sends one request to the api listener, or to a whole URL.
    func send(
        _ method: String, _ target: String, _ headers: [String: String] = [:], body: String? = nil,
        token: String = Self.token
    ) async throws -> Reply {
        let url = try #require(URL(string: target.hasPrefix("http") ? target : api + target))
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.timeoutInterval = TimeInterval(Wait.seconds)
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let body {
            request.httpBody = Data(body.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        let headers = Dictionary(
            http.allHeaderFields.compactMap { name, value in
                (name as? String).map { ($0.lowercased(), "\(value)") }
            }
        ) { first, _ in first }
        return Reply(status: http.statusCode, headers: headers, body: Array(data))
    }

    /// Lets an account buy something.
    @discardableResult
    func buy(
        _ account: String, _ product: String = "gems", _ type: AppStoreAPI.ProductType = .consumable,
        date: Int64? = nil, token: String? = nil
    ) throws -> TransactionPayload {
        var purchase = TransactionPayload()
        purchase.bundleId = Self.bundleID
        purchase.productId = product
        purchase.type = type
        purchase.purchaseDate = date
        purchase.appAccountToken = token
        return try simulator.state.buy(purchase, by: account)
    }

    /// How often an endpoint was called in an environment.
    func calls(_ operation: Endpoint.Operation, _ environment: SimulatedEnvironment? = nil) -> Int {
        simulator.state.received.requests.filter {
            $0.operation == operation && (environment == nil || $0.environment == environment)
        }.count
    }
}
