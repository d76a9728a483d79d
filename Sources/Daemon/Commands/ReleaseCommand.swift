import Curl

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
