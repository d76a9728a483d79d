import Domain
import HTTPTypes
import JSON

/// What happens, for callers that follow it.
struct EventRoutes: Sendable {
    /// Events of a page when the caller does not say.
    private static let defaultLimit = 100
    /// The longest wait for the first event, in seconds.
    private static let maximumWait = 60

    let feed: EventFeed

    /// `GET …/events`: in the order of their commits.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: ["after", "from", "limit", "wait"])
        }
        let start = checks.run { () throws(ServiceError) in try Self.start(input) }
        let limit = checks.run { () throws(ServiceError) in
            try input.integer("limit", in: 1...EventFeed.maximumPageSize) ?? Self.defaultLimit
        }
        let wait = checks.run { () throws(ServiceError) in try input.integer("wait", in: 0...Self.maximumWait) ?? 0 }
        guard checks.havePassed, let start, let limit, let wait else { throw checks.error }
        // Whoever waits for events does no work meanwhile.
        if wait > 0 { input.place?.leave() }
        defer { input.place?.retake() }
        let page = try await feed.events(
            app: app, from: start, limit: limit, wait: min(.seconds(wait), input.timeLeft))
        return Answer.object(capacity: 128 + page.events.count * EventBody.size) { writer in
            writer.memberArray("events") { writer in
                for event in page.events { writer.object { EventBody.write(event, to: &$0) } }
            }
            writer.member("cursor", String(page.cursor))
            writer.member("hasMore", page.hasMore)
        }
    }

    private static func start(_ input: RequestInput) throws(ServiceError) -> EventFeed.Start {
        let cursor = try input.single("after")
        let time = try input.time("from")
        switch (cursor, time) {
        case (nil, nil): return .now
        case (nil, let time?): return .time(time)
        case (let cursor?, nil):
            guard let position = Int64(cursor), position >= 0, String(position) == cursor else {
                throw violation("after", "format", "`after` must be the `cursor` of an earlier answer.")
            }
            return .cursor(position)
        case (.some, .some): throw violation("from", "exclusive", "Give `after` or `from`, not both.")
        }
    }

    private static func violation(_ field: String, _ rule: String, _ message: String) -> ServiceError {
        .invalid([Violation(field: field, rule: rule, message: message)])
    }
}
