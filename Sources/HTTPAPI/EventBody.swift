import Domain
import JSON

/// An event as a CloudEvent in JSON.
///
/// Source: CloudEvents 1.0 (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md), section "Context Attributes";
/// JSON Event Format 1.0.2, section 3.
enum EventBody {
    /// Room that an event takes.
    static let size = 512

    static func write(_ event: ServiceEvent, to writer: inout JSONWriter) {
        writer.member("specversion", "1.0")
        writer.member("id", String(event.position))
        writer.member("source", "/v1/apps/\(event.app)")
        writer.member("type", "purser.\(event.kind.rawValue)")
        writer.member("subject", event.subject)
        writer.member("time", Timestamp.text(event.at))
        writer.member("datacontenttype", "application/json")
        writer.memberObject("data") { writeData(event, to: &$0) }
    }

    /// What is known, each under the name that it has elsewhere in our API.
    private static func writeData(_ event: ServiceEvent, to writer: inout JSONWriter) {
        switch event.kind {
        case .notificationReceived: writer.member("notificationUUID", event.subject)
        case .caseOpened, .caseReminded, .caseAnswered, .caseDeclined, .caseExpired, .caseDecided:
            writer.member("caseId", event.subject)
            writer.memberIfPresent("outcome", event.detail)
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

    /// What the case or the delivery is by the event; nil where an event does not say.
    private static func state(after kind: ServiceEvent.Kind) -> String? {
        switch kind {
        case .notificationReceived, .caseReminded: nil
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
        }
    }
}
