import Domain
import JSON

/// The delivery object of our API.
enum DeliveryBody {
    static func write(_ delivery: Delivery, to writer: inout JSONWriter) {
        writer.member("id", delivery.id)
        writer.member("app", delivery.app)
        writer.memberOrNull("user", delivery.user?.value)
        writer.member("caller", delivery.caller)
        writer.member("transactionId", delivery.transactionID)
        writer.memberOrNull("environment", delivery.environment?.rawValue)
        writer.member("version", delivery.version.rawValue)
        writer.member("state", delivery.state.rawValue)
        writer.member("createdAt", Timestamp.text(delivery.createdAt))
        writer.member("deadline", Timestamp.text(delivery.deadline))
        writer.memberArray("attempts") { writer in
            for attempt in delivery.attempts { write(attempt, to: &writer) }
        }
        writer.member("mayHaveReachedApple", delivery.mayHaveReachedApple)
        writer.memberArray("warnings") { writer in
            for warning in delivery.warnings { writer.value(warning) }
        }
    }

    private static func write(_ attempt: DeliveryAttempt, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("startedAt", Timestamp.text(attempt.startedAt))
            let (seconds, attoseconds) = attempt.duration.components
            writer.member("durationMilliseconds", seconds * 1000 + attoseconds / 1_000_000_000_000_000)
            writer.memberOrNull("httpStatus", attempt.httpStatus)
            writer.memberOrNull("errorCode", attempt.errorCode)
            writer.memberOrNull("failure", attempt.failure)
        }
    }
}
