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
        var fields = try input.fields()
        let start = Self.start(&fields)
        let limit = fields.integer("limit", in: .query, from: 1...EventFeed.maximumPageSize, isRequired: false)
        let asked = fields.integer("wait", in: .query, from: 0...Self.maximumWait, isRequired: false) ?? 0
        try fields.finish()
        // The one wait of a GET that can end early without a failure, even before it begins.
        let wait = min(asked, input.preferences.wait ?? asked)
        // Whoever waits for events does no work meanwhile.
        if wait > 0 { input.slot?.beginIdling() }
        defer { input.slot?.endIdling() }
        let page = try await feed.events(
            app: app, from: start, limit: limit ?? Self.defaultLimit, wait: min(.seconds(wait), input.timeLeft))
        return Answer.object(capacity: 128 + page.events.count * EventBody.size) { writer in
            writer.memberArray("events") { writer in
                for event in page.events {
                    writer.object { EventBody.write(event, id: page.cursor(of: event), to: &$0) }
                }
            }
            writer.member("cursor", page.cursor.text)
            writer.member("hasMore", page.hasMore)
        }
    }

    private static func start(_ fields: inout FieldReader) -> EventFeed.Start {
        let cursor = fields.value(
            "after", in: .query, isRequired: false, expected: "the `cursor` of an earlier answer"
        ) { EventCursor($0) }
        let time = fields.time("from", in: .query)
        if cursor != nil, time != nil { fields.note("from", "exclusive", "Give `after` or `from`, not both.") }
        return cursor.map(EventFeed.Start.cursor) ?? time.map(EventFeed.Start.time) ?? .now
    }
}

/// An event as a CloudEvent in JSON.
///
/// Source: CloudEvents 1.0 (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md), section "Context Attributes";
/// JSON Event Format 1.0.2, section 3.
enum EventBody {
    /// Room that an event takes.
    static let size = 512

    /// `id`: with its epoch, so that no other event has the same, not even after the store was restored.
    static func write(_ event: ServiceEvent, id: EventCursor, to writer: inout JSONWriter) {
        writer.member("specversion", "1.0")
        writer.member("id", id.text)
        writer.member("source", "/v1/apps/\(event.app)")
        writer.member("type", "purser.\(event.kind.rawValue)")
        writer.member("subject", event.subject)
        writer.member("time", Timestamp.text(event.at))
        writer.member("datacontenttype", "application/json")
        writer.memberObject("data") { writeData(event, to: &$0) }
    }

    /// The same without what makes it an event of the log: for records of which it is one.
    static func writeRecord(_ event: ServiceEvent, to writer: inout JSONWriter) {
        writer.member("type", "purser.\(event.kind.rawValue)")
        writer.member("time", Timestamp.text(event.at))
        writer.memberObject("data") { writeData(event, to: &$0) }
    }

    /// What is known, each under the name that it has elsewhere in our API.
    private static func writeData(_ event: ServiceEvent, to writer: inout JSONWriter) {
        switch event.kind {
        case .notificationReceived, .guardianConsentRescinded: writer.member("notificationUUID", event.subject)
        case .caseOpened, .caseReminded, .caseAnswered, .caseDeclined, .caseExpired, .caseDecided:
            writer.member("caseId", event.subject)
            writer.memberIfPresent("outcome", event.detail)
        case .receiptConfirmed, .receiptFraud, .receiptChanged:
            writer.member("receiptId", event.subject)
            writer.memberIfPresent("fraudReason", event.detail)
        case .deliveryQueued, .deliveryAccepted, .deliveryRefused, .deliveryExpired, .deliveryCancelled:
            writer.member("deliveryId", event.subject)
            writer.memberIfPresent("caseId", event.caseID)
            writer.memberIfPresent(
                "reason",
                event.detail.map { ServiceError.Reason(rawValue: $0).map(ProblemResponse.constant) ?? $0 })
        }
        writer.memberIfPresent("state", state(after: event.kind))
        writer.memberIfPresent("notificationType", event.notificationType)
        writer.memberIfPresent("notificationSubtype", event.subtype)
        writer.memberIfPresent("environment", event.environment?.rawValue)
        writer.memberIfPresent("transactionId", event.transactionID)
        writer.memberIfPresent("user", event.user?.value)
    }

    /// What the case, the delivery or the receipt is by the event; nil where an event does not say.
    private static func state(after kind: ServiceEvent.Kind) -> String? {
        switch kind {
        case .notificationReceived, .guardianConsentRescinded, .caseReminded, .receiptChanged: nil
        case .caseOpened: RefundCase.State.open.rawValue
        case .caseAnswered: RefundCase.State.answered.rawValue
        case .caseDeclined: RefundCase.State.declined.rawValue
        case .caseExpired: RefundCase.State.expired.rawValue
        case .caseDecided: RefundCase.State.decided.rawValue
        case .deliveryQueued: Delivery.State.queued.rawValue
        case .deliveryAccepted: Delivery.State.accepted.rawValue
        case .deliveryRefused: Delivery.State.refused.rawValue
        case .deliveryExpired: Delivery.State.expired.rawValue
        case .deliveryCancelled: Delivery.State.cancelled.rawValue
        case .receiptConfirmed: Receipt.State.confirmed.rawValue
        case .receiptFraud: Receipt.State.fraud.rawValue
        }
    }
}
