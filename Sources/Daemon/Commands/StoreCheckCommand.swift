import Curl
import Foundation

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
