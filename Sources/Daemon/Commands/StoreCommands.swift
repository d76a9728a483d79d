import Curl
package import Domain
import Foundation
import StoreSQLite
import Systemd

/// `purser backup`: lets the running daemon copy its store into a new file.
package enum BackupCommand {
    private struct Request: Encodable {
        let path: String
    }

    /// Makes the copy; the daemon goes on with its work meanwhile.
    ///
    /// - Parameters:
    ///   - path: the file to write, relative to the folder of this process; it must not exist, and the daemon must be allowed
    ///     to make it.
    ///   - daemon: the one that has the store.
    /// - Returns: `success`, `configuration`, or `failure` when there is no copy now.
    package static func run(to path: String, daemon: RunningDaemon) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let path = URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
            let reply = try await daemon.client().send(
                .post, "/v1/store:backup", body: try JSONEncoder().encode(Request(path: path)),
                timeout: AdminClient.longTimeout)
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            // Under systemd the daemon has a /tmp of its own.
            guard access(path, F_OK) == 0 || errno != ENOENT else {
                return CommandOutcome(
                    .failure,
                    errorOutput: """
                        The daemon has written \(path), but in a folder that only it can see (PrivateTmp= of its unit); \
                        name a file below its state folder, such as /var/lib/purser.

                        """)
            }
            return CommandOutcome(
                .success,
                output: """
                    The store is copied to \(path). The copy holds personal data: keep it as safe as the store.
                    `purser restore \(path)` puts it in the store's place.

                    """)
        }
    }
}

/// `purser restore`, and `purser store check` where no daemon runs: what is done with the configuration's store while
/// nobody else has it.
///
/// Blocks; not for the threads of the concurrency pool.
package struct OfflineStoreCommand: Sendable {
    private let file: String
    private let environment: [String: String]
    private let now: WallClock

    /// - Parameters:
    ///   - file: the configuration file, which names the store.
    ///   - environment: the environment of the process.
    ///   - now: the time of day.
    package init(file: String, environment: [String: String], now: @escaping WallClock = { Date() }) {
        self.file = file
        self.environment = environment
        self.now = now
    }

    /// Puts a backup in the store's place; nothing is sent from it until `purser deliveries release`.
    ///
    /// - Parameters:
    ///   - backup: the file that `purser backup` made.
    ///   - replacing: whether a store that is there is put aside.
    /// - Returns: `success`, `configuration`, or `failure` when the store is as it was.
    package func restore(from backup: String, replacing: Bool) -> CommandOutcome {
        outcome { path, configuration in
            guard replacing || access(path, F_OK) != 0 else {
                return CommandOutcome(
                    .failure, errorOutput: "There is a store at \(path) already; with --replace it is put aside.\n")
            }
            let kept = try StoreRestore.restore(from: backup, to: path, replacing: replacing, at: now())
            try Self.giveToFolderOwner(path)
            var lines = ["The store \(path) is now that of \(backup)."]
            if let kept { lines.append("The one that was there is kept as \(kept).") }
            lines.append("Nothing is sent to Apple until `purser deliveries release`, after these:")
            lines.append("record again who has withdrawn consent since the backup, and cancel what should not be sent.")
            let problem = SealedContents.problem(of: configuration).map { "Before the start: \($0)\n" } ?? ""
            return CommandOutcome(.success, output: lines.map { "\($0)\n" }.joined(), errorOutput: problem)
        }
    }

    /// Looks at every page, index and reference of the store.
    ///
    /// - Returns: `success`, `configuration`, or `failure` with what is wrong.
    package func check() -> CommandOutcome {
        outcome { path, _ in StoreCheckCommand.outcome(problems: try StoreCheck.check(path)) }
    }

    private func outcome(
        _ body: (_ path: String, _ configuration: DaemonConfiguration) throws -> CommandOutcome
    ) -> CommandOutcome {
        do {
            let configuration = try DaemonConfiguration.load(file: file, environment: environment)
            switch configuration.store {
            case .sqlite(let path): return try body(path, configuration)
            case .postgres:
                return CommandOutcome(
                    .failure,
                    errorOutput: """
                        The store is a database of PostgreSQL's: it is backed up and restored with PostgreSQL's own tools, \
                        and checked while the daemon runs.

                        """)
            }
        } catch let error as ConfigurationError {
            return CommandOutcome(.configuration, errorOutput: "\(error)\n")
        } catch let error as ServiceError {
            return CommandOutcome(.failure, errorOutput: "\(error.message)\n")
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
    }

    /// What root makes in the state folder must belong to the user that the daemon runs as, who owns the folder.
    ///
    /// - Throws: `FileError`.
    static func giveToFolderOwner(_ path: String) throws(FileError) {
        guard geteuid() == 0 else { return }
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard let status = FileStatus(path: folder) else {
            throw FileError(path: folder, problem: String(cString: strerror(errno)))
        }
        for file in ["", ".lock", "-wal", "-shm"].map({ path + $0 }) where access(file, F_OK) == 0 {
            guard lchown(file, status.owner, status.group) == 0 else {
                throw FileError(
                    path: file,
                    problem:
                        "it cannot be given to the owner of \(folder): \(String(cString: strerror(errno)))")
            }
        }
    }
}

/// `purser store check`: looks at every page, index and reference of the store.
package enum StoreCheckCommand {
    private struct Examined: Decodable {
        let problems: [String]
    }

    /// Lets the daemon look, if it runs, and else looks itself.
    ///
    /// - Returns: `success` when nothing is wrong, `configuration`, or `failure` with what is wrong.
    package static func run(daemon: RunningDaemon, otherwise offline: OfflineStoreCommand) async -> CommandOutcome {
        await RunningDaemon.outcome {
            do {
                let reply = try await daemon.client().send(
                    .post, "/v1/store:check", timeout: AdminClient.longTimeout)
                guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
                return outcome(problems: try reply.decoded(Examined.self).problems)
            } catch AdminClientError.notRunning, AdminClientError.switchedOff {
                // It blocks, as the disk does.
                return await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume(returning: offline.check()) }
                }
            }
        }
    }

    static func outcome(problems: [String]) -> CommandOutcome {
        problems.isEmpty
            ? CommandOutcome(.success, output: "Nothing is wrong with the store.\n")
            : CommandOutcome(.failure, output: problems.map { "\($0)\n" }.joined())
    }
}

/// `purser deliveries release`: lets the daemon send again after its store came from a backup.
package enum ReleaseCommand {
    private struct Released: Decodable {
        struct Hold: Decodable {
            let since: String
            let reason: String
        }

        /// The hold that ended; nil when there was none.
        let hold: Hold?
        let waiting: Int
    }

    /// Ends the hold.
    ///
    /// - Returns: `success` with what was held, also when nothing was; `configuration`, or `failure` when the daemon cannot
    ///   be asked.
    package static func run(daemon: RunningDaemon) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let reply = try await daemon.client().send(.post, "/v1/deliveries:release")
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            let released = try reply.decoded(Released.self)
            let waiting = "\(released.waiting) \(released.waiting == 1 ? "delivery waits" : "deliveries wait")"
            guard let hold = released.hold else {
                return CommandOutcome(.success, output: "Sending is not held; \(waiting).\n")
            }
            return CommandOutcome(
                .success,
                output: "Sending was held since \(hold.since): \(hold.reason)\nIt goes on now; \(waiting).\n")
        }
    }
}
