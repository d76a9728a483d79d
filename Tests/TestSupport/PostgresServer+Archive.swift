package import Foundation
package import Postgres

// A server whose log is archived, and another one that is made of its backup and its archive, as after an accident.

extension PostgresServer {
    /// The folder of the archive, within that of the server that fills it.
    private static let archive = "archive"
    /// What lets a backup be made of a server that runs.
    private static let isReplicable = ["wal_level=replica", "max_wal_senders=4", "full_page_writes=on"]

    /// Makes a cluster whose log goes into an archive, and starts its server.
    package static func startArchiving() async throws -> PostgresServer {
        let command = "mkdir -p ../\(archive) && cp %p ../\(archive)/part && mv ../\(archive)/part ../\(archive)/%f"
        return try await start(settings: isReplicable + ["archive_mode=on", "archive_command=\(command)"])
    }

    /// Backs the cluster up while it serves.
    ///
    /// - Returns: the folder of the backup, which the caller removes.
    package func backUp() async throws -> URL {
        guard let program = Self.program("pg_basebackup") else {
            throw NotStarted(description: "pg_basebackup is missing: install the package postgresql")
        }
        let backup = try Self.makeFolder()
        try await Self.run([
            program, "--host", folder.path, "--username", Self.user, "--pgdata", "\(backup.path)/data",
            "--wal-method=none", "--checkpoint=fast", "--no-sync",
        ])
        return backup
    }

    /// Names this moment, and has the log up to it archived.
    package func nameMoment(_ name: String) async throws {
        try await run("SELECT pg_create_restore_point('\(name)')")
        let segment = try await query("SELECT pg_walfile_name(pg_switch_wal())")
        let file = folder.appending(path: "\(Self.archive)/\(segment)").path
        try await Wait.until("the log to be archived") { FileManager.default.fileExists(atPath: file) }
    }

    /// Starts a server from a backup of this one, taken to a moment that was named, by the archive.
    ///
    /// `backup`: of ``backUp()``; it becomes the folder of the server.
    ///
    /// - Returns: the server, which takes writes.
    /// - Throws: if it does not come up.
    package func recover(_ backup: URL, to moment: String) async throws -> PostgresServer {
        let signal = backup.appending(path: "data/recovery.signal").path
        try await Self.run(["touch", signal])
        let server = try await Self.serve(
            backup, nil,
            Self.isReplicable + [
                "restore_command=cp \(folder.path)/\(Self.archive)/%f %p", "recovery_target_name=\(moment)",
                "recovery_target_action=promote",
            ])
        try await Wait.until("the server to be through with the archive") {
            !FileManager.default.fileExists(atPath: signal)
        }
        return server
    }

    /// How to reach a database of the same name there.
    package func configuration(of database: String) -> PostgresConfiguration {
        Self.configuration(folder, port, database: database)
    }
}
