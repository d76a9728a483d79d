import Foundation

/// A PostgreSQL server of the bench's own, as durable as one must be, on the core of the load.
struct PostgresCluster: Sendable {
    /// The user that owns every database.
    private static let user = "purser"

    /// Where its socket is, and its log.
    let folder: URL
    fileprivate let programs: PostgresPrograms
    fileprivate let bench: Bench
    fileprivate let server: ChildProcess

    /// Makes a cluster and starts its server.
    ///
    /// - Throws: `BenchError` when PostgreSQL is missing or does not start.
    static func start(in bench: Bench) async throws -> PostgresCluster {
        let programs = try PostgresPrograms()
        let folder = bench.folder.appending(path: "postgres-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        // It refuses to run as root.
        var account: [String] = []
        if geteuid() == 0 {
            guard let own = getpwnam("postgres")?.pointee else { throw BenchError("there is no user postgres") }
            chown(folder.path, own.pw_uid, own.pw_gid)
            account = [
                "--reuid=\(own.pw_uid)", "--regid=\(own.pw_gid)", "--clear-groups",
            ]
        }
        // A change of user takes away what ends it with the bench.
        let prefix = account + ["--pdeathsig", "INT", "--"]
        let (core, setpriv) = (bench.cores.load, try Tool.setpriv.path())
        let data = folder.appending(path: "data").path
        let made = try await bench.start(
            setpriv,
            prefix + [
                programs.path("initdb"), "--pgdata", data, "--username", user, "--auth=trust", "--encoding=UTF8",
                "--locale=C", "--no-instructions",
            ], core: core)
        _ = try await made.finished()
        let settings = [
            "unix_socket_directories=\(folder.path)", "listen_addresses=", "shared_buffers=256MB", "max_wal_size=4GB",
            "max_connections=200", "log_line_prefix=%v ", "log_parameter_max_length=-1",
        ]
        let server = try await bench.start(
            setpriv,
            prefix + [programs.path("postgres"), "-D", data] + settings.flatMap { ["-c", $0] }, core: core)
        let cluster = PostgresCluster(folder: folder, programs: programs, bench: bench, server: server)
        for _ in 0..<200 {
            if (try? await cluster.query("SELECT 1", in: "postgres")) != nil { return cluster }
            guard server.isRunning else { throw BenchError("postgres did not start: \(server.lastWords)") }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw BenchError("postgres did not answer: \(server.lastWords)")
    }

    /// Makes an empty database.
    func makeDatabase(_ name: String) async throws {
        _ = try await query("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8'", in: "postgres")
    }

    /// How a daemon is told of a database.
    func url(_ database: String) -> String { "postgres://\(Self.user)@/\(database)?host=\(folder.path)" }

    /// What it has written to its log.
    func log() throws -> String { try String(contentsOf: server.errorOutput, encoding: .utf8) }

    /// Runs statements.
    ///
    /// - Returns: the rows, a line each.
    func query(_ sql: String, in database: String) async throws -> String {
        let process = try await bench.start(
            programs.path("psql"),
            [
                "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--host", folder.path,
                "--username", Self.user, "--dbname", database, "--command", sql,
            ], core: bench.cores.service)
        return try await process.finished().trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Lets pgbench run a script, where the daemon would be.
    ///
    /// - Parameters:
    ///   - script: one transaction, or several.
    ///   - database: with the tables, which it fills.
    ///   - clients: how many connections at once.
    ///   - seconds: for how long.
    ///   - first: the first number of a script that counts.
    /// - Returns: how often a second the script ran.
    /// - Throws: `BenchError` with what pgbench says.
    func pgbench(
        _ script: String, in database: String, clients: Int, seconds: Int, first: Int
    ) async throws -> Double {
        let file = bench.folder.appending(path: "script-\(UUID().uuidString.prefix(8)).sql")
        try script.write(to: file, atomically: true, encoding: .utf8)
        let process = try await bench.start(
            programs.path("pgbench"),
            [
                "--no-vacuum", "--protocol=prepared", "--client=\(clients)", "--jobs=1", "--time=\(seconds)",
                "--define=turn=-1", "--define=first=\(first)", "--define=clients=\(clients)",
                "--file=\(file.path)", "--host=\(folder.path)", "--username=\(Self.user)", database,
            ], core: bench.cores.service)
        let output = try await process.finished()
        guard let rate = output.firstMatch(of: /tps = ([0-9.]+)/).flatMap({ Double($0.1) }), rate > 0 else {
            throw BenchError("pgbench says: \(output.suffix(300))")
        }
        return rate
    }
}

/// Programs of the newest PostgreSQL that there is.
struct PostgresPrograms: Sendable {
    private let folder: String

    /// - Throws: `BenchError` when they are missing.
    init() throws(BenchError) {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let newest = versions.sorted { $0.localizedStandardCompare($1) == .orderedDescending }
            .first { access("\(root)/\($0)/bin/pgbench", X_OK) == 0 }
        guard let newest else { throw BenchError("pgbench is missing: install the package postgresql") }
        folder = "\(root)/\(newest)/bin"
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }
}
