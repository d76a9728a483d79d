import Curl
import JSON

/// `purser reload`: has the running daemon read its configuration anew, and waits for what comes of it.
package enum ReloadCommand {
    /// How long the daemon may take: with ten thousand apps and keys it is seconds.
    private static let timeout = Duration.seconds(300)
    /// The `reason` of a configuration that is wrong.
    private static let invalid = "CONFIGURATION_INVALID"

    /// Asks for it, and says what changed, a line for each part.
    ///
    /// - Returns: `success` when the new configuration is in force, `configuration` with every problem when it is wrong, or
    ///   `failure`; in both of these the one before stays.
    package static func run(daemon: RunningDaemon, format: OperatorQuery.Format) async -> CommandOutcome {
        await RunningDaemon.outcome {
            // What is wrong with the file does not keep the daemon from being told: its log and its health say so, too.
            let (client, problem) = try daemon.clientWhateverTheFile()
            let reply: AdminClient.Reply
            do {
                reply = try await client.send(.post, "/v1/configuration:reload", timeout: timeout)
            } catch {
                throw problem ?? error
            }
            guard reply.isSuccess else {
                let refusal = try RunningDaemon.refusal(reply)
                guard try reply.decoded(Problem.self).reason == invalid else { return refusal }
                return CommandOutcome(.configuration, errorOutput: refusal.errorOutput)
            }
            let answer: JSONValue
            do {
                answer = try JSONValue(parsing: reply.body)
            } catch {
                throw AdminClientError.answerUnreadable
            }
            let warnings = texts(answer["warnings"]).map { "warning: \($0)\n" }.joined()
            return CommandOutcome(
                .success,
                output: format == .json ? answer.serializedString(pretty: true) + "\n" : lines(of: answer),
                errorOutput: format == .json ? "" : warnings)
        }
    }

    /// What changed, for people.
    static func lines(of answer: JSONValue) -> String {
        let changes = answer["changes"]?.array ?? []
        var lines = changes.map { change in
            let pieces = ["added", "removed", "changed"].compactMap { kind in
                let names = texts(change[kind])
                return names.isEmpty ? nil : "\(kind) \(names.joined(separator: ", "))"
            }
            return "\(TextTable.text(of: change["part"] ?? .null)): \(pieces.joined(separator: "; "))"
        }
        if lines.isEmpty { lines.append("Nothing has changed.") }
        let keys = texts(answer["needsRestart"])
        if !keys.isEmpty { lines.append("needs a restart: \(keys.joined(separator: ", "))") }
        return lines.map { "\($0)\n" }.joined()
    }

    private static func texts(_ value: JSONValue?) -> [String] { (value?.array ?? []).map(TextTable.text(of:)) }
}
