import Curl
import Foundation

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
