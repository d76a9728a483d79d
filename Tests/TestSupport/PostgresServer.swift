package import Foundation
package import Postgres
package import Testing

/// A PostgreSQL server of the tests' own, with nothing of the system's but its programs.
///
/// One for the whole process, on a Unix socket, with a database for each test; nothing of it is written for good. It ends with
/// the process that started it, however that ends.
package final class PostgresServer: Sendable {
    /// Where it keeps what it has, its socket included.
    package let folder: URL
    /// Where it takes TLS connections on loopback; nil where it has a socket alone.
    package let port: Int?
    private let process: ChildProcess
    /// The watch ends the server when this closes, so with our process at the latest.
    private let lifeline: FileHandle
    private let administration: PostgresPool

    /// The superuser of every server of ours.
    package static let user = "purser"

    private static let shared = Task { try await start() }

    /// The server of this process.
    package static func running() async throws -> PostgresServer { try await shared.value }

    /// Whether the tests that need a server run: where the programs are missing, only an environment that asks for all tests
    /// (`CI`) makes their lack a failure.
    package static var isExpected: Bool {
        program("initdb") != nil || ProcessInfo.processInfo.environment["CI"] != nil
    }

    /// A program of PostgreSQL's: of the search path, or of Debian's newest version.
    static func program(_ name: String) -> String? {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders =
            ["/usr/bin", "/usr/local/bin"]
            + versions.sorted { $0.localizedStandardCompare($1) == .orderedDescending }
            .map { "/usr/lib/postgresql/\($0)/bin" }
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    private init(folder: URL, port: Int?, process: ChildProcess, lifeline: FileHandle) {
        self.folder = folder
        self.port = port
        self.process = process
        self.lifeline = lifeline
        administration = PostgresPool(
            Self.configuration(folder, port, database: "postgres"), size: 2, name: "test-postgres")
    }

    static func configuration(_ folder: URL, _ port: Int?, database: String) -> PostgresConfiguration {
        // The socket is called by the port as well.
        PostgresConfiguration(host: folder.path, port: port ?? 5432, database: database, user: user)
    }

    // MARK: Databases

    /// Makes a database that nobody else has.
    ///
    /// - Parameter template: the database that it is a copy of, to which nobody is connected; nil for an empty one.
    /// - Returns: how to reach it by the socket.
    /// - Throws: ``PostgresError``
    package func makeDatabase(from template: String? = nil) async throws -> PostgresConfiguration {
        let name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
        let source = template ?? "template0"
        try await run("CREATE DATABASE \(name) TEMPLATE \(source) STRATEGY FILE_COPY")
        return Self.configuration(folder, port, database: name)
    }

    /// Dumps a database, and puts the dump back as another one, with PostgreSQL's own tools.
    ///
    /// - Returns: how to reach the other one.
    package func putBack(_ configuration: PostgresConfiguration) async throws -> PostgresConfiguration {
        guard let dump = Self.program("pg_dump"), let restore = Self.program("pg_restore") else {
            throw NotStarted(description: "pg_dump is missing: install the package postgresql")
        }
        let target = try await makeDatabase()
        let file = FileManager.default.temporaryDirectory.appending(path: "purser-\(UUID().uuidString).dump").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let server = ["--host", configuration.host, "--port", "\(configuration.port)", "--username", Self.user]
        for command in [
            [dump, "--format=custom", "--file", file, configuration.database],
            [restore, "--exit-on-error", "--dbname", target.database, file],
        ] {
            let outcome = try await ChildProcess.run([command[0]] + server + command.dropFirst())
            guard outcome.status == 0 else { throw NotStarted(description: outcome.errorOutput) }
        }
        return target
    }

    /// A database by its name, for who does not speak to it.
    package struct Database: Sendable {
        package let name: String
        /// As a configuration names it.
        package let url: String
    }

    /// Makes a database that nobody else has, for daemons that run beside the tests.
    package func makeNamedDatabase() async throws -> Database {
        let made = try await makeDatabase()
        return Database(name: made.database, url: "postgres://\(made.user)@/\(made.database)?host=\(made.host)")
    }

    /// Ends connections to a database, each with this probability, and waits for nothing.
    package func endConnections(to database: Database, probability: Double) async throws {
        try await administration.withConnection { connection in
            _ = try connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND random() * 1000 < $2",
                [.text(database.name), .integer(Int64(probability * 1000))])
        }
    }

    /// Lets the server end and begin anew, as after an upgrade; returns when it takes connections again.
    package func restart() async throws {
        try "".write(toFile: folder.appending(path: "again").path, atomically: false, encoding: .utf8)
        let file = folder.appending(path: "data/postmaster.pid")
        let first = try String(contentsOf: file, encoding: .utf8).prefix { !$0.isNewline }
        guard let number = pid_t(first) else { throw NotStarted(description: "postmaster.pid has no number") }
        kill(number, SIGINT)
        try await Wait.until("PostgreSQL to begin anew") {
            let now = try? String(contentsOf: file, encoding: .utf8).prefix { !$0.isNewline }
            guard let now, now != first else { return false }
            return (try? await run("SELECT 1")) != nil
        }
    }

    /// Runs statements as the superuser.
    package func run(_ script: String) async throws {
        try await administration.withConnection { try $0.run(script: script) }
    }

    /// The one text that a statement answers.
    func query(_ sql: String) async throws -> String {
        try await administration.withConnection { connection in
            try connection.execute(sql).text(0, 0) ?? ""
        }
    }

    /// Lets nobody connect to a database, and ends the connections there are, as if the server were away; or ends that.
    package func setAway(_ isAway: Bool, _ configuration: PostgresConfiguration) async throws {
        try await run("ALTER DATABASE \(configuration.database) ALLOW_CONNECTIONS \(!isAway)")
        if isAway { try await endConnections(to: configuration) }
    }

    /// Ends every connection to a database, as a server that restarts does, and waits until they have ended.
    package func endConnections(to configuration: PostgresConfiguration) async throws {
        try await administration.withConnection { connection in
            _ = try connection.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1",
                [.text(configuration.database)])
        }
    }

    /// Ends the server.
    package func stop() async throws {
        await administration.shutdown()
        try lifeline.close()
        _ = try await process.ended
    }

    // MARK: Start

    /// Ends the server once its own input ends, and leaves nothing behind.
    private static let watch = """
        folder=$1; shift
        exec 3<&0
        (read -r _ <&3 || true; touch "$folder/end"; kill -INT $(head -n 1 "$folder/data/postmaster.pid")) &
        "$@"; status=$?
        while [ -e "$folder/again" ] && [ ! -e "$folder/end" ]; do rm "$folder/again"; "$@"; status=$?; done
        [ -e "$folder/end" ] && rm -rf "$folder"
        exit $status
        """

    /// Makes a cluster and starts its server.
    ///
    /// - Parameters:
    ///   - certificate: with which it takes TLS connections to `localhost` too, with passwords; nil for the socket alone.
    ///   - more: settings besides those of all servers of ours, each such as `archive_mode=on`.
    /// - Returns: the server, which takes connections.
    /// - Throws: if the programs are missing, or the server does not come up.
    package static func start(
        certificate: IssuedCertificate? = nil, settings more: [String] = []
    ) async throws -> PostgresServer {
        guard let initdb = program("initdb") else {
            throw NotStarted(description: "initdb is missing: install the package postgresql")
        }
        let folder = try makeFolder()
        try await run([
            initdb, "--pgdata", folder.appending(path: "data").path, "--username", user, "--auth-local=trust",
            "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions",
        ])
        var settings = more
        var port: Int?
        if let certificate {
            let free = try freePort()
            port = free
            let files = ["server.pem", "server.key"].map { folder.appending(path: $0).path }
            try certificate.write(chain: files[0], key: files[1])
            if let account { for file in files { chown(file, account.pw_uid, account.pw_gid) } }
            settings += [
                "listen_addresses=localhost", "port=\(free)", "ssl=on", "ssl_cert_file=\(folder.path)/server.pem",
                "ssl_key_file=\(folder.path)/server.key",
            ]
        }
        return try await serve(folder, port, settings)
    }

    /// It refuses to run as root; nil where nobody is.
    private static var account: passwd? {
        geteuid() == 0 ? getpwnam("postgres")?.pointee ?? getpwnam("nobody")?.pointee : nil
    }

    /// What goes in front of a program so that it runs as the server does.
    private static var asServer: [String] {
        account.map { ["setpriv", "--reuid=\($0.pw_uid)", "--regid=\($0.pw_gid)", "--clear-groups"] } ?? []
    }

    /// Runs a program as the server, to its end.
    static func run(_ command: [String]) async throws {
        let outcome = try await ChildProcess.run(asServer + command)
        guard outcome.status == 0 else { throw NotStarted(description: "\(command[0]): \(outcome.errorOutput)") }
    }

    /// Makes a folder that is the server's own.
    static func makeFolder() throws -> URL {
        let folder = URL(filePath: "/tmp/purser-postgres-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let account { chown(folder.path, account.pw_uid, account.pw_gid) }
        return folder
    }

    /// Starts the server of a cluster, `data` in a folder.
    static func serve(_ folder: URL, _ port: Int?, _ settings: [String]) async throws -> PostgresServer {
        guard let postgres = program("postgres") else {
            throw NotStarted(description: "postgres is missing: install the package postgresql")
        }
        let all =
            [
                "fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "wal_level=minimal",
                "max_wal_senders=0", "max_connections=400", "shared_buffers=64MB", "log_min_messages=fatal",
                "unix_socket_directories=\(folder.path)", "listen_addresses=",
            ] + settings
        let (input, lifeline) = try lifelinePipe()
        let process = try ChildProcess(
            ["bash", "-c", watch, "watch", folder.path] + asServer + [postgres, "-D", "\(folder.path)/data"]
                + all.flatMap { ["-c", $0] }, input: input.fileDescriptor)
        try input.close()
        let server = PostgresServer(folder: folder, port: port, process: process, lifeline: lifeline)
        try await Wait.until("PostgreSQL to start") {
            guard process.status == nil else { throw NotStarted(description: "postgres has ended") }
            do {
                try await server.run("SELECT 1")
                return true
            } catch {
                return false
            }
        }
        return server
    }

    /// A pipe whose writing end no program inherits: `ChildProcess` closes what it is not given.
    private static func lifelinePipe() throws -> (reading: FileHandle, writing: FileHandle) {
        var descriptors: [Int32] = [0, 0]
        guard pipe(&descriptors) == 0, fcntl(descriptors[1], F_SETFD, FD_CLOEXEC) == 0 else {
            throw POSIXError(.EMFILE)
        }
        return (
            FileHandle(fileDescriptor: descriptors[0], closeOnDealloc: true),
            FileHandle(fileDescriptor: descriptors[1], closeOnDealloc: true)
        )
    }

    /// A port that nobody has at present; PostgreSQL cannot be asked to take any.
    private static func freePort() throws -> Int {
        let (descriptor, port) = try LoopbackSocket.listening()
        close(descriptor)
        return port
    }
}

extension Trait where Self == ConditionTrait {
    /// Shows a skip where PostgreSQL is not installed and nobody insists.
    package static var needsPostgres: Self {
        .enabled(if: PostgresServer.isExpected, "initdb is missing: install the package postgresql")
    }
}
