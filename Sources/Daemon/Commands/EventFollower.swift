import Curl
import Foundation
import JSON

/// `purser events`: what happens, a line for each event, up to now or without end.
package struct EventFollower: Sendable {
    /// How many seconds a request waits for the next event; shorter than any answer may take.
    private static let patience = 20

    private let daemon: RunningDaemon
    private let format: OperatorQuery.Format

    package init(daemon: RunningDaemon, format: OperatorQuery.Format) {
        self.daemon = daemon
        self.format = format
    }

    /// Shows the events of an app.
    ///
    /// - Parameters:
    ///   - app: the app's name.
    ///   - time: from when on; nil for all that are kept.
    ///   - isEndless: whether to go on with what happens from now on.
    ///   - show: gets each line, without its end.
    /// - Returns: `success` when everything up to now was shown, or `failure` with the daemon's reason.
    package func run(
        app: String, from time: String?, isEndless: Bool, show: (String) -> Void
    ) async -> CommandOutcome {
        await RunningDaemon.outcome {
            try await daemon.client().withConnection { send in
                let path = "/v1/apps/\(CallerKeysCommand.segment(app))/events"
                var start = time.map { "from=\(CallerKeysCommand.segment($0))" } ?? "after=0"
                while true {
                    let wait = isEndless ? "&wait=\(Self.patience)" : ""
                    let reply = try await send(.get, "\(path)?\(start)&limit=1000\(wait)", nil, nil)
                    guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
                    guard let page = try? JSONValue(parsing: reply.body), let cursor = page["cursor"]?.string else {
                        throw AdminClientError.answerUnreadable
                    }
                    for event in page["events"]?.array ?? [] { show(line(of: event)) }
                    guard isEndless || page["hasMore"]?.bool == true else { return CommandOutcome(.success) }
                    start = "after=\(CallerKeysCommand.segment(cursor))"
                }
            }
        }
    }

    private func line(of event: JSONValue) -> String {
        switch format {
        case .json: event.serializedString()
        case .table:
            (["time", "type", "subject"].map { event[$0] } + [event["data"]?["transactionId"], event["data"]?["user"]])
                .map { TextTable.text(of: $0 ?? .null) }.joined(separator: "  ")
        }
    }
}
