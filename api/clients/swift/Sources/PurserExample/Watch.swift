import ArgumentParser
import GRPCCore
import SwiftProtobuf

/// Follows what happens with an app: no event is missed, and none comes twice, whatever breaks off in between.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow an app's events, and go on with the next one where the stream breaks off.")

    @OptionGroup var connection: Connection

    @Argument(help: "The app, as Purser's configuration calls it.")
    var app: String

    @Option(help: "Begin behind the event of this id, or with the first there ever was (0); without it, with the next.")
    var after: String?

    @Option(help: "End after so many events.")
    var limit = Int.max

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit takes 1 or more.") }
    }

    func run() async throws {
        try await explained {
            try await connection.withClient { client in
                try await follow(Purser_V1_EventsService.Client(wrapping: client))
            }
        }
    }

    /// Watches again and again, each time behind the last event.
    private func follow(_ events: Purser_V1_EventsService.Client<some ClientTransport>) async throws {
        let position = Position(cursor: after)
        var backoff = Backoff()
        while true {
            let before = await position.count
            // A stream that ends without a failure has ended sooner than it should.
            var end = RPCError(code: .unavailable, message: "The stream has ended")
            do { try await watch(events, from: position) } catch let error as RPCError { end = error }
            let (count, cursor) = await (position.count, position.cursor)
            if count >= limit { return }
            if count > before { backoff.reset() }
            // `OUT_OF_RANGE` is no reason to repeat: what is behind the cursor is not kept any more. A program would look at cases
            // and deliveries for what it has missed, and then watch from now on.
            let failure = Failure(end)
            guard case .repeatCall = failure.reaction else { throw failure }
            let delay = backoff.delay(atLeast: failure.retryDelay)
            complain("\(failure.code): \(failure.message); again after \(delay), behind \(cursor ?? "now")")
            try await Task.sleep(for: delay)
        }
    }

    /// Watches until there have been enough events, or the stream ends.
    ///
    /// It has no deadline, since it is to go on; the connection's keepalive finds out when nobody is there any more.
    private func watch(
        _ events: Purser_V1_EventsService.Client<some ClientTransport>, from position: Position
    ) async throws {
        let cursor = await position.cursor
        let request = Purser_V1_WatchEventsRequest.with {
            $0.app = app
            if let cursor { $0.after = cursor }
        }
        let limit = limit
        try await events.watchEvents(request) { response in
            if let cursor = response.metadata[stringValues: "event-cursor"].first(where: { _ in true }) {
                await position.begin(at: cursor)
            }
            for try await event in response.messages {
                tell("event: \(event.id) \(event.type) \(event.subject)")
                // To return is to end the call.
                if await position.pass(event.id) >= limit { return }
            }
        }
    }
}

/// How far events have been followed.
///
/// Whoever works with them keeps the cursor together with the outcome of that work, so that a new start goes on there, too.
private actor Position {
    private(set) var cursor: String?
    private(set) var count = 0

    init(cursor: String?) { self.cursor = cursor }

    /// The stream begins here: where to go on if it breaks off before its first event.
    func begin(at cursor: String) {
        if self.cursor == nil { self.cursor = cursor }
    }

    /// An event has been dealt with; tells how many that have been.
    func pass(_ id: String) -> Int {
        cursor = id
        count += 1
        return count
    }
}
