import Foundation
import OpenSSL

/// `purser serve`, running and ready.
struct PurserDaemon: Sendable {
    /// Where it listens.
    struct Ports: Sendable {
        let api: Int
        let webhook: Int
        let grpc: Int
    }

    let ports: Ports
    let process: ChildProcess
    /// From its start until it said that it is ready.
    let startTime: Duration

    /// Starts it on the core of the service.
    ///
    /// - Parameters:
    ///   - configuration: what to write into its file.
    ///   - upstream: what stands for Apple.
    ///   - bench: where.
    /// - Returns: the daemon, ready.
    /// - Throws: `BenchError` with its last words when it does not become ready.
    static func start(
        _ configuration: PurserConfiguration, upstream: Int, in bench: Bench
    ) async throws -> PurserDaemon {
        let ports = Ports(
            api: try Loopback.freePort(), webhook: try Loopback.freePort(), grpc: try Loopback.freePort())
        let file = bench.folder.appending(path: "\(configuration.name).yaml")
        try configuration.yaml(ports, upstream: upstream, in: bench).write(to: file, atomically: true, encoding: .utf8)
        let socket = try ReadySocket()
        let program = try bench.program("purser")
        let start = ContinuousClock.now
        let process = try await bench.start(
            program, ["serve", "--config", file.path], environment: ["NOTIFY_SOCKET": socket.address],
            core: bench.cores.service)
        guard let ready = await socket.ready(of: process) else {
            throw BenchError("purser did not become ready: \(process.lastWords)")
        }
        return PurserDaemon(ports: ports, process: process, startTime: start.duration(to: ready))
    }

    /// Ends it and waits for that.
    func stop() async {
        process.terminate()
        _ = await process.exitStatus()
    }

    /// What it has used so far.
    func usage() throws(BenchError) -> ProcessUsage { try ProcessUsage(of: process.processID) }
}

/// A configuration of Purser for a measurement.
struct PurserConfiguration: Sendable {
    /// What the caller of all measurements may do.
    private static let scopes = "[consumption:write, refunds:read, transactions:read, usage:read, usage:write]"
    /// The calls whose limits must not be what is measured.
    private static let calls = ["Get Transaction Info", "Get Refund History", "Send Consumption Information"]

    /// Names the files; several daemons can use one after the other.
    let name: String
    /// How many apps there are, a multiple of ten; the measurements ask about ten of them, which lie far from each other.
    var apps = Self.measuredApps
    /// Whether deliveries may go to Apple; otherwise they stay queued, because the limit is as low as it can be.
    var sends = true
    /// Where the store is, if not in a file of its own.
    var postgres: String?

    /// Whether it speaks gRPC besides.
    var speaksGRPC = false

    /// The caller's token.
    static let token = "prs_" + String(repeating: "purserbench", count: 4)

    /// How many apps the measurements ask about.
    static let measuredApps = 10

    /// The slug of an app.
    static func app(_ index: Int) -> String { "a\(index)" }

    /// The slug of one of the apps that the measurements ask about.
    func measuredApp(_ index: Int) -> String { Self.app(index * distance) }

    /// How far they lie from each other.
    var distance: Int { apps / Self.measuredApps }

    private func bundleID(_ index: Int) -> String {
        index % distance == 0 ? Fixtures.bundleID(index / distance) : "com.example.other\(index)"
    }

    /// The file for one daemon.
    ///
    /// - Parameters:
    ///   - ports: where to listen.
    ///   - upstream: the port of what stands for Apple.
    ///   - bench: where its files are.
    /// - Returns: its content.
    /// - Throws: `OpenSSLError`
    func yaml(_ ports: PurserDaemon.Ports, upstream: Int, in bench: Bench) throws -> String {
        let digest = try SHA256Digest.hexadecimalDigest(Array(Self.token.utf8))
        let url = "https://localhost:\(upstream)"
        let slugs = (0..<apps).map(Self.app)
        let rates = Self.calls.map { call in
            let rate = call == "Send Consumption Information" && !sends ? 1 : 100_000
            return "\"\(call)\": \(rate)"
        }
        return """
            \(try store(in: bench))
            log: { level: error }
            listeners:
              api: { address: "127.0.0.1:\(ports.api)" }
              grpc: { address: \(speaksGRPC ? "\"127.0.0.1:\(ports.grpc)\"" : "none") }
              webhook: { address: "127.0.0.1:\(ports.webhook)" }
              admin: { address: none }
              health: { address: none }
            apple:
              rateLimits:
                sandboxShare: \(sends ? 100 : 1)%
                requestsPerSecond: { \(rates.joined(separator: ", ")) }
              rootCertificates: ["\(bench.fixtures.path("root.der"))"]
              upstream: { production: "\(url)", sandbox: "\(url)" }
              certificateAuthorityFile: "\(bench.fixtures.path("ca.pem"))"
            keys:
              - id: \(Fixtures.keyID)
                issuer: \(Fixtures.issuerID)
                file: "\(bench.fixtures.path("api.p8"))"
                state: active
                apps: [\(slugs.joined(separator: ", "))]
            apps:
            \(slugs.indices.map(app).joined(separator: "\n"))
            callers:
              bench:
                tokenSHA256: "\(digest)"
                scopes:
            \(slugs.enumerated().map { "      \($1): \($0 == 0 ? "&all \(Self.scopes)" : "*all")" }.joined(separator: "\n"))

            """
    }

    /// The settings that say where what lasts is.
    private func store(in bench: Bench) throws -> String {
        guard let postgres else { return "store: \"sqlite:\(databasePath(in: bench))\"" }
        // One for all copies.
        let key = bench.folder.appending(path: "master.key").path
        if access(key, F_OK) != 0 {
            let digits = Data(String(repeating: "5a", count: 32).utf8)
            guard FileManager.default.createFile(atPath: key, contents: digits, attributes: [.posixPermissions: 0o600])
            else { throw BenchError("\(key) cannot be written") }
        }
        let audit = bench.folder.appending(path: "\(name).audit").path
        return """
            store: "\(postgres)"
            masterKey: { file: "\(key)" }
            audit: { directory: "\(audit)", reserveFile: "\(audit)-reserve" }
            """
    }

    private func app(_ index: Int) -> String {
        "  \(Self.app(index)): {bundleId: \(bundleID(index)), appAppleId: \(Fixtures.appAppleID)}"
    }

    /// The database, which outlives a daemon within one run.
    func databasePath(in bench: Bench) -> String { bench.folder.appending(path: "\(name).db").path }
}

/// Stands for the service manager: hears when a daemon says that it is ready.
///
/// Source: sd_notify(3)
final class ReadySocket: Sendable {
    private let descriptor: Int32
    /// What `NOTIFY_SOCKET` must say; the name is an abstract one (unix(7)), which needs no file.
    let address: String

    /// - Throws: `BenchError` when the system gives no socket.
    init() throws(BenchError) {
        let name = "purser-bench-\(UUID().uuidString)"
        address = "@" + name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 0, tv_usec: 100_000)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in name.utf8.enumerated() { path[index + 1] = byte }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard descriptor >= 0, result == 0,
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size)) == 0
        else { throw BenchError("no socket for READY=1: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Waits for `READY=1`.
    ///
    /// - Returns: when it came; nil when the process ended without it.
    func ready(of process: ChildProcess) async -> ContinuousClock.Instant? {
        await withCheckedContinuation { continuation in
            // The thread waits in the kernel, which no thread of the pool may do.
            Thread { [self] in continuation.resume(returning: readyNow(of: process)) }.start()
        }
    }

    private func readyNow(of process: ChildProcess) -> ContinuousClock.Instant? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while process.isRunning {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            let instant = ContinuousClock.now
            // Nothing within the timeout: look again whether anybody is left to say it.
            guard count > 0 else { continue }
            let lines = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
            if lines.contains("READY=1") { return instant }
        }
        return nil
    }
}
