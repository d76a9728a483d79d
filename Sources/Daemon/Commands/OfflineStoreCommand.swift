package import Domain
import Foundation
import StoreSQLite

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
        outcome { path in
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
            return CommandOutcome(.success, output: lines.map { "\($0)\n" }.joined())
        }
    }

    /// Looks at every page, index and reference of the store.
    ///
    /// - Returns: `success`, `configuration`, or `failure` with what is wrong.
    package func check() -> CommandOutcome {
        outcome { path in StoreCheckCommand.outcome(problems: try StoreCheck.check(path)) }
    }

    private func outcome(_ body: (_ path: String) throws -> CommandOutcome) -> CommandOutcome {
        do {
            switch try DaemonConfiguration.load(file: file, environment: environment).store {
            case .sqlite(let path): return try body(path)
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
    private static func giveToFolderOwner(_ path: String) throws(FileError) {
        guard geteuid() == 0 else { return }
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw FileError(path: folder, problem: String(cString: strerror(errno)))
        }
        for file in [path, path + ".lock"] where access(file, F_OK) == 0 {
            guard chown(file, status.st_uid, status.st_gid) == 0 else {
                throw FileError(
                    path: file,
                    problem:
                        "restored, but cannot be given to the owner of \(folder): \(String(cString: strerror(errno)))")
            }
        }
    }
}
