package import Domain
package import Foundation
import HTTPTypes
import JSON

/// Who is told what happens: callbacks of an app, made and looked after by its own services.
struct CallbackRoutes: Sendable {
    /// Attempts that are listed when the caller does not say.
    private static let defaultAttempts = 50

    let service: CallbackService

    /// `GET …/callbacks`: the oldest first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return try await Self.answer(service.list(app: app))
    }

    /// `POST …/callbacks`.
    func add(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let draft = fields.callbackDraft(service.policy)
        guard fields.isValid, let draft else { throw fields.error }
        let (listing, secret) = try await service.add(
            app: app, draft, by: input.actor, caller: input.caller?.name ?? "")
        return Answer.object(.created) { writer in
            CallbackBody.write(listing, to: &writer)
            writer.memberIfPresent("secret", secret)
        }
    }

    /// `GET …/callbacks/{callbackId}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        return Self.answer(try await service.get(app: app, id: try Self.id(input)))
    }

    /// `PATCH …/callbacks/{callbackId}`.
    func change(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let id = try Self.id(input)
        let format = try await service.get(app: app, id: id).callback.format
        var fields = try input.fields()
        let change = fields.callbackChange(service.policy, of: format)
        try fields.finish()
        return Self.answer(try await service.change(app: app, id: id, change, by: input.actor))
    }

    /// `DELETE …/callbacks/{callbackId}`: answers what is left.
    func remove(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        try await service.remove(app: app, id: try Self.id(input), by: input.actor)
        return try await Self.answer(service.list(app: app))
    }

    /// `POST …/callbacks/{callbackId}:rotateSecret`.
    func rotateSecret(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let (listing, secret) = try await service.rotateSecret(app: app, id: try Self.id(input), by: input.actor)
        return Answer.object { writer in
            CallbackBody.write(listing, to: &writer)
            writer.member("secret", secret)
        }
    }

    /// `POST …/callbacks/{callbackId}:test`.
    func test(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let attempt = try await service.test(app: app, id: try Self.id(input))
        return Answer.object { CallbackBody.write(attempt, to: &$0) }
    }

    /// `POST …/callbacks/{callbackId}:replay`.
    func replay(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let cursor = fields.value("after", isRequired: false, expected: "a `cursor` of an answer of `events`, or `0`") {
            EventCursor($0)
        }
        let time = fields.time("from")
        if fields.isValidSoFar, (cursor == nil) == (time == nil) {
            fields.note("after", "exclusive", "Give either `after`, a cursor, or `from`, a time.")
        }
        try fields.finish()
        let start = cursor.map(EventFeed.Start.cursor) ?? time.map(EventFeed.Start.time) ?? .now
        return Self.answer(
            try await service.replay(app: app, id: try Self.id(input), from: start, by: input.actor))
    }

    /// `GET …/callbacks/{callbackId}/attempts`: the latest first.
    func attempts(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let limit = fields.integer("limit", in: .query, from: 1...CallbackAttempt.maximumKept, isRequired: false)
        try fields.finish()
        let attempts = try await service.attempts(
            app: app, id: try Self.id(input), limit: limit ?? Self.defaultAttempts)
        return Answer.object(capacity: 64 + attempts.count * 256) { writer in
            writer.memberArray("attempts") { writer in
                for attempt in attempts { writer.object { CallbackBody.write(attempt, to: &$0) } }
            }
        }
    }

    private static func id(_ input: RequestInput) throws(ServiceError) -> String { try input.parameter("callbackId") }

    private static func answer(_ listing: CallbackService.Listing) -> Answer {
        Answer.object { CallbackBody.write(listing, to: &$0) }
    }

    private static func answer(_ listings: [CallbackService.Listing]) -> Answer {
        Answer.object(capacity: 64 + listings.count * 512) { writer in
            writer.memberArray("callbacks") { writer in
                for listing in listings { writer.object { CallbackBody.write(listing, to: &$0) } }
            }
        }
    }
}

/// The callback object of our API, and that of an attempt.
enum CallbackBody {
    static func write(_ listing: CallbackService.Listing, to writer: inout JSONWriter) {
        let callback = listing.callback
        writer.member("id", callback.id)
        writer.member("app", callback.app)
        writer.member("url", callback.url.text)
        writer.member("format", callback.format.rawValue)
        write("types", callback.filter.types, to: &writer)
        write("products", callback.filter.products, to: &writer)
        write("environments", Set(callback.filter.environments.map(\.rawValue)), to: &writer)
        writer.member("description", callback.description)
        writer.member("state", callback.state.rawValue)
        writer.memberOrNull("pauseReason", callback.pauseReason?.rawValue)
        writer.member("waiting", listing.waiting)
        writer.memberOrNull("failingSince", listing.failingSince.map(Timestamp.text))
        writer.member("missedEvents", callback.hasMissedEvents)
        writer.memberOrNull("previousSecretUntil", callback.previousSecretUntil.map(Timestamp.text))
        writer.member("createdAt", Timestamp.text(callback.createdAt))
        writer.member("createdBy", callback.createdBy)
        writer.member("updatedAt", Timestamp.text(callback.updatedAt))
    }

    private static func write(_ name: String, _ texts: Set<String>, to writer: inout JSONWriter) {
        writer.memberArray(name) { writer in
            for text in texts.sorted() { writer.value(text) }
        }
    }

    static func write(_ attempt: CallbackAttempt, to writer: inout JSONWriter) {
        let (seconds, attoseconds) = attempt.duration.components
        writer.member("eventId", attempt.eventID)
        writer.member("type", attempt.type)
        writer.member("startedAt", Timestamp.text(attempt.startedAt))
        writer.member("milliseconds", seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        writer.memberOrNull("status", attempt.status)
        writer.member("received", attempt.failure == nil)
        writer.memberOrNull("failure", attempt.failure)
    }
}

/// Writes what callbacks post: our events as the feed of events tells them, Apple's notifications as Apple does.
package struct CallbackBodies: CallbackEncoder {
    package init() {}

    package func event(_ event: ServiceEvent, id: EventCursor) -> [UInt8] {
        var writer = JSONWriter(capacity: EventBody.size)
        writer.object { EventBody.write(event, id: id, to: &$0) }
        return writer.takeBytes()
    }

    package func test(app: String, id: String, at now: Date) -> [UInt8] {
        var writer = JSONWriter(capacity: EventBody.size)
        writer.object { writer in
            writer.member("specversion", "1.0")
            writer.member("id", id)
            writer.member("source", "/v1/apps/\(app)")
            writer.member("type", "purser.callback.test")
            writer.member("time", Timestamp.text(now))
        }
        return writer.takeBytes()
    }

    package func notification(_ signed: String) -> [UInt8] {
        var writer = JSONWriter(capacity: signed.utf8.count + 32)
        writer.object { $0.member("signedPayload", signed) }
        return writer.takeBytes()
    }
}
