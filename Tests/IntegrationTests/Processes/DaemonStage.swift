import AppStoreAPI
import AppStoreSimulator
import Foundation
import OpenSSL
import Synchronization
import TestSupport
import Testing

/// An App Store, a folder and a configuration, for daemons that come and go as processes of their own.
struct DaemonStage: Sendable {
    static let bundleID = "com.example.coins"
    /// The bundle id of an app.
    static func bundleID(of app: String) -> String { "com.example.\(app)" }
    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    /// The callers of the configuration, each with its token.
    static let callers = ["billing": "prs_billing", "game": "prs_game", "support": "prs_support"]

    let simulator: Simulator
    let folder: URL
    /// Where the database is.
    let storeFolder: URL
    private let settings: Settings
    private let ports = Ports()
    /// Also those of the same installation elsewhere.
    private var launched = Launched()

    var configuration: String { folder.appending(path: "purser.yaml").path }

    /// A client of the API, as one of the callers.
    func api(_ caller: String = "billing") -> LocalClient {
        LocalClient(
            socket: socket("api"), headers: ["Authorization": "Bearer \(settings.callers[caller] ?? "")"])
    }

    /// Where Apple posts an app's notifications.
    func webhook(_ app: String = "coins") -> String {
        "\(settings.webhookIsTLS ? "https" : "http")://localhost:\(webhookPort)/webhooks/apple/\(app)"
    }

    var webhookPort: Int { ports.webhook.load(ordering: .relaxed) }

    /// The port of the API, where ``Settings/apiHasPort``.
    var apiPort: Int { ports.api.load(ordering: .relaxed) }

    /// The port of `webhook`, of `api` where ``Settings/apiHasPort``, or of one of ``Settings/ports``.
    func port(of listener: String) -> Int {
        ["webhook": webhookPort, "api": apiPort][listener] ?? ports.others.withLock { $0[listener] ?? 0 }
    }

    /// The authority of the webhook's certificate, where ``Settings/webhookIsTLS``.
    var webhookAuthority: String { folder.appending(path: "webhook-ca.pem").path }

    /// Where a probe asks.
    var health: LocalClient { LocalClient(socket: socket("health")) }

    /// Where operators ask.
    var admin: LocalClient { LocalClient(socket: socket("admin")) }

    /// The master key that the daemon makes for itself.
    var masterKey: String { storeFolder.appending(path: "purser.masterkey").path }

    /// The Unix socket of a listener.
    func socket(_ name: String) -> String { folder.appending(path: "\(name).sock").path }

    /// What a test can choose of the configuration.
    struct Settings: Sendable {
        var appleTimes = AppleTimes()
        /// Each with its token.
        var callers = DaemonStage.callers
        /// What each of them may do besides.
        var scopes: [String] = []
        var logLevel = "info"
        /// The ids of further keys of the app, which stand by.
        var standbyKeys: [String] = []
        /// Apple's rates, where they must not be what a test meets.
        var requestsPerSecond: [String: Int] = [:]
        /// Apps besides `coins`, whose bundle ids end in their names.
        var otherApps: [String] = []
        /// Whether callers come over TCP, without TLS, and not over a socket.
        var apiHasPort = false
        /// Which of `grpc`, `health` and `appleProduction` listen at a port, without TLS, and not at a socket.
        var ports: Set<String> = []
        /// For how many seconds it serves on after it was told to end.
        var drainDelay = 0
        var webhookIsTLS = false
        /// The name by which the App Store is called; nil for its address.
        var appleName: String?
        /// The section `callbacks` of the configuration.
        var callbacks = "{}"
        /// The database of PostgreSQL's that is the store; nil for a file of the stage's own.
        var database: PostgresServer.Database?
        /// The master key where the store is no file.
        var masterKeyFile: String?
        /// Whether every host has a file of its own for the master key of a shared store.
        var hasMasterKeyPerHost = false
    }

    /// Where a daemon listens on the loopback interface.
    private final class Ports: Sendable {
        let webhook = Atomic(0)
        let api = Atomic(0)
        let others = Mutex<[String: Int]>([:])
    }

    /// How many seconds a daemon gives Apple.
    struct AppleTimes: Sendable {
        var connect = Wait.seconds
        var attempt = Wait.seconds
        var deadline = Wait.seconds

        /// So little that calls are given up.
        static let short = AppleTimes(connect: 2, attempt: 2, deadline: 5)
    }

    /// Lends a stage to a closure; nothing of it outlives that.
    ///
    /// `delays`: where an answer waits that a fault of the App Store delays; nil for as long as the fault says.
    static func with<Result: Sendable>(
        seed: UInt64 = 1, _ settings: Settings = Settings(), appleTimes: AppleTimes? = nil, delays: Gate? = nil,
        now: @escaping @Sendable () -> Date = { Date() },
        _ body: @Sendable (DaemonStage) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "purser-stage-\(UUID().uuidString.prefix(8))")
        let storeFolder = folder.appending(path: "store")
        try FileManager.default.createDirectory(at: storeFolder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = SimulatorConfiguration(seed: seed, now: now)
        if let delays { configuration.sleep = { _ in await delays.pass() } }
        let simulator = try await Simulator.start(configuration)
        var settings = settings
        if let appleTimes { settings.appleTimes = appleTimes }
        if settings.database != nil {
            let file =
                settings.hasMasterKeyPerHost
                ? storeFolder.appending(path: "purser.masterkey") : folder.appending(path: "master.key")
            settings.masterKeyFile = file.path
            let digits = (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
            try Data(digits.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        let stage = DaemonStage(
            simulator: simulator, folder: folder, storeFolder: storeFolder, settings: settings)
        let outcome: Result
        do {
            try stage.prepare()
            outcome = try await body(stage)
        } catch {
            print(stage.launched.troubles)
            stage.launched.kill()
            await simulator.stop()
            throw error
        }
        await simulator.stop()
        return outcome
    }

    /// Every daemon that was started, to end those that a failed test leaves behind.
    private final class Launched: Sendable {
        private let processes = Mutex<[DaemonProcess]>([])

        func add(_ process: DaemonProcess) { processes.withLock { $0.append(process) } }

        func kill() { processes.withLock { $0.forEach { $0.process.kill() } } }

        /// What they have complained of, to be read beside a failed test.
        var troubles: String {
            let lines = processes.withLock(\.self).flatMap { $0.log.text.split(separator: "\n") }
            let troubles = lines.filter { $0.contains(#""level":"warning""#) || $0.contains(#""level":"error""#) }
            return (["a daemon whose test failed:"] + troubles.suffix(40)).joined(separator: "\n")
        }
    }

    /// Starts a daemon and waits until it serves.
    ///
    /// - Throws: if it ends before that.
    func start(
        after command: [String] = [], options: [String] = [], environment: [String: String] = [:],
        logLines: Int = DaemonProcess.Log.capacity
    ) async throws -> DaemonProcess {
        for _ in 0..<10 {
            let process = try launch(after: command, options: options, environment: environment, logLines: logLines)
            if try await process.isReady { return process }
            // Somebody took the port meanwhile.
            guard process.log.text.contains("in use") else {
                throw Failure(description: "purser ended with \(try await process.ended):\n\(process.log.text)")
            }
            try choosePort()
        }
        throw Failure(description: "no port stays free")
    }

    /// Starts a daemon, whatever becomes of it.
    func launch(
        after command: [String] = [], options: [String] = [], environment: [String: String] = [:],
        logLines: Int = DaemonProcess.Log.capacity,
        sockets: [(name: String, descriptor: Int32)] = []
    ) throws -> DaemonProcess {
        let daemon = try DaemonProcess(
            ["serve", "--config", configuration] + options, after: command, environment: environment,
            logLines: logLines,
            sockets: sockets)
        launched.add(daemon)
        return daemon
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Sells gems in the app, to an account of the App Store's or to a new one; tells the transaction's id.
    ///
    /// `token`: the `appAccountToken` of the purchase.
    func sellGems(
        to account: String? = nil, in environment: SimulatedEnvironment = .production, token: String? = nil
    ) throws -> String {
        var purchase = TransactionPayload()
        purchase.bundleId = Self.bundleID
        purchase.productId = "gems"
        purchase.type = .consumable
        purchase.appAccountToken = token
        let buyer = try account ?? simulator.state.createAccount(in: environment).id
        return try #require(try simulator.state.buy(purchase, by: buyer).transactionId)
    }

    // MARK: Setting up

    /// The same installation on another host, in front of the same App Store: its configuration, certificates and key
    /// files, without a store or a master key.
    ///
    /// It ends with this stage.
    ///
    /// `name`: of its folder; where the store is a database, it is one more copy on that.
    func onAnotherHost(named name: String = "b") throws -> DaemonStage {
        let elsewhere = folder.appending(path: name)
        let stage = DaemonStage(
            simulator: simulator, folder: elsewhere, storeFolder: elsewhere.appending(path: "store"),
            settings: settings, launched: launched)
        try FileManager.default.createDirectory(at: stage.storeFolder, withIntermediateDirectories: true)
        for name in ["key.p8", "root.der", "tls-ca.pem"] {
            try FileManager.default.copyItem(
                at: folder.appending(path: name), to: elsewhere.appending(path: name))
        }
        if settings.hasMasterKeyPerHost {
            try FileManager.default.copyItem(atPath: masterKey, toPath: stage.masterKey)
        }
        try stage.choosePort()
        return stage
    }

    /// Registers app and key with the App Store, and writes key, certificates and configuration.
    private func prepare() throws {
        _ = try makeKey("ABCDEFGHIJ", at: "key.p8")
        for id in settings.standbyKeys { _ = try makeKey(id, at: "\(id).p8") }
        for (number, app) in (["coins"] + settings.otherApps).enumerated() {
            try simulator.state.register(
                RegisteredApp(
                    bundleID: Self.bundleID(of: app), appAppleID: Int64(42 + number), issuerID: Self.issuer))
        }
        if settings.webhookIsTLS {
            let authority = try TestAuthority()
            try authority.certificate.pem().write(toFile: webhookAuthority, atomically: true, encoding: .utf8)
            try authority.server().write(
                chain: folder.appending(path: "webhook.pem").path, key: folder.appending(path: "webhook.key").path)
        }
        try Data(simulator.root.der).write(to: folder.appending(path: "root.der"))
        try Data(try simulator.tlsAuthority.pem().utf8).write(to: folder.appending(path: "tls-ca.pem"))
        simulator.state.notificationTimeout = Wait.limit
        try choosePort()
    }

    /// Makes a key's file and registers it with the App Store.
    ///
    /// - Returns: the file.
    func makeKey(_ id: String, at name: String, issuer: String = Self.issuer) throws -> URL {
        let key = try ECPrivateKey.generate()
        let file = folder.appending(path: name)
        try key.pkcs8PEM().withUnsafeBytes { Data($0) }.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try simulator.state.registerKey(key.publicKey, keyID: id, issuerID: issuer)
        return file
    }

    /// What stages of this process have chosen: a port is free until its daemon listens there.
    private static let chosenPorts = Mutex<Set<Int>>([])

    private static func freePort() throws -> Int {
        try #require(
            (20_000..<32_000).shuffled().first { port in
                isFree(port) && chosenPorts.withLock { $0.insert(port).inserted }
            })
    }

    /// Has the webhook at a port that is free now and that no outgoing connection takes; restarts use it again.
    private func choosePort() throws {
        let (port, apiPort) = (try Self.freePort(), try Self.freePort())
        ports.webhook.store(port, ordering: .relaxed)
        ports.api.store(apiPort, ordering: .relaxed)
        for name in settings.ports { try ports.others.withLock { $0[name] = try Self.freePort() } }
        try configurationText().write(toFile: configuration, atomically: true, encoding: .utf8)
        let url = try #require(NotificationURL("http://127.0.0.1:\(port)/webhooks/apple/coins"))
        for environment in SimulatedEnvironment.allCases {
            try simulator.state.setNotificationAddress(
                NotificationAddress(url: url), of: Self.bundleID, in: environment)
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = Foundation.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr = in_addr(s_addr: in_addr_t(INADDR_LOOPBACK).bigEndian)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private func upstream(_ environment: SimulatedEnvironment) -> String {
        let url = simulator.baseURL(environment)
        return settings.appleName.map { url.replacingOccurrences(of: "127.0.0.1", with: $0) } ?? url
    }

    private func configurationText() throws -> String {
        let scopes = [
            "consumption:write", "consumption:read", "consent:write", "events:read", "links:write",
            "notifications:read", "receipts:read", "receipts:write", "transactions:write", "users:erase",
            "users:export",
        ]
        let apps = ["coins"] + settings.otherApps
        let granted = (scopes + settings.scopes).joined(separator: ", ")
        let callers = try settings.callers.sorted { $0.key < $1.key }.map { name, token in
            let digest = try SHA256Digest.digest(Array(token.utf8)).map {
                ($0 < 16 ? "0" : "") + String($0, radix: 16)
            }
            let scopes = apps.map { "\($0): [\(granted)]" }.joined(separator: ", ")
            return "  \(name): { tokenSHA256: \"\(digest.joined())\", scopes: { \(scopes) } }"
        }
        let keyApps = apps.joined(separator: ", ")
        let tls =
            settings.webhookIsTLS
            ? ", tls: { certificateChain: \"\(folder.path)/webhook.pem\", privateKey: \"\(folder.path)/webhook.key\" }"
            : ""
        let standbyKeys = settings.standbyKeys.map {
            "  - { id: \($0), issuer: \(Self.issuer), file: \"\(folder.path)/\($0).p8\", state: standby, apps: [coins] }\n"
        }
        let rates = settings.requestsPerSecond.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        let store = settings.database?.url ?? "sqlite:\(storeFolder.path)/purser.db"
        let masterKeyFile = settings.hasMasterKeyPerHost ? masterKey : settings.masterKeyFile
        let masterKey = masterKeyFile.map { "masterKey: { file: \"\($0)\" }" } ?? ""
        let address = { settings.ports.contains($0) ? "127.0.0.1:\(port(of: $0))" : "unix:\(socket($0))" }
        let apiAddress = settings.apiHasPort ? "127.0.0.1:\(apiPort)" : "unix:\(socket("api"))"
        return """
            log: { level: \(settings.logLevel) }
            store: "\(store)"
            \(masterKey)
            audit: { directory: "\(storeFolder.path)/purser.audit" }
            listeners:
              api: { address: "\(apiAddress)", idleTimeout: \(Wait.seconds)s }
              grpc: { address: "\(address("grpc"))", idleTimeout: \(Wait.seconds)s, reflection: true }
              webhook: { address: "127.0.0.1:\(webhookPort)"\(tls) }
              admin: { address: "unix:\(socket("admin"))" }
              grpcAdmin: { address: "unix:\(socket("grpc-admin"))", idleTimeout: \(Wait.seconds)s }
              health: { address: "\(address("health"))" }
              \(settings.ports.contains("appleProduction") ? "appleProduction: { address: \"\(address("appleProduction"))\" }" : "")
            apple:
              rootCertificates: ["\(folder.path)/root.der"]
              upstream: { production: "\(upstream(.production))", sandbox: "\(upstream(.sandbox))" }
              certificateAuthorityFile: "\(folder.path)/tls-ca.pem"
              connectTimeout: \(settings.appleTimes.connect)s
              attemptTimeout: \(settings.appleTimes.attempt)s
              deadline: \(settings.appleTimes.deadline)s
              \(rates.isEmpty ? "" : "rateLimits: { requestsPerSecond: { \(rates) } }")
            keys:
              - { id: ABCDEFGHIJ, issuer: \(Self.issuer), file: "\(folder.path)/key.p8", state: active, apps: [\(keyApps)] }
            \(standbyKeys.joined())
            apps:
            \(apps.enumerated().map { "  \($1): { bundleId: \(Self.bundleID(of: $1)), appAppleId: \(42 + $0) }" }.joined(separator: "\n"))
            callers:
            \(callers.joined(separator: "\n"))
            callbacks: \(settings.callbacks)
            shutdown: { timeout: \(Wait.seconds)s, drainDelay: \(settings.drainDelay)s }

            """
    }
}
