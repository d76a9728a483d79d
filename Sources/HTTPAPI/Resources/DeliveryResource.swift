import Domain
import HTTPTypes
import JSON

/// What has become of the answers that were accepted.
struct DeliveryRoutes: Sendable {
    let service: DeliveryService
    let tokens: PageTokenCoder

    /// `GET …/deliveries`: newest first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let page = PageRequest(
            &fields, of: "deliveries", app, input, maximumSize: DeliveryQuery.maximumPageSize, tokens)
        var query = DeliveryQuery(limit: page.limit)
        query.states = fields.choices("state", Delivery.State.self)
        query.user = fields.user(in: .query)
        query.transactionID = fields.identifier("transactionId", .transaction, in: .query, isRequired: false)
        query.caseID = fields.text("caseId", in: .query)
        query.environment = fields.environment(for: app)
        query.since = fields.time("since", in: .query)
        try fields.finish()
        query.before = try page.position(\.self)
        let (deliveries, next) = page.page(try await service.deliveries(app: app, query), position: \.id)
        return Answer.object(capacity: 256 + deliveries.count * DeliveryBody.size) { writer in
            writer.memberArray("deliveries") { writer in
                for delivery in deliveries { writer.object { DeliveryBody.write(delivery, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `GET …/deliveries/{deliveryId}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let delivery = try await service.delivery(app: app, id: try input.parameter("deliveryId"))
        return Answer.object(capacity: DeliveryBody.size) { DeliveryBody.write(delivery, to: &$0) }
    }

    /// `POST …/deliveries/{deliveryId}:cancel`.
    func cancel(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let delivery = try await service.cancel(
            app: app, id: try input.parameter("deliveryId"), caller: input.caller?.name ?? "")
        return Answer.object(delivery.state.isFinal ? .ok : .accepted, capacity: DeliveryBody.size) {
            DeliveryBody.write(delivery, to: &$0)
        }
    }
}

/// The delivery object of our API.
enum DeliveryBody {
    /// Room that a delivery takes.
    static let size = 1024

    static func write(_ delivery: Delivery, to writer: inout JSONWriter) {
        writer.member("id", delivery.id)
        writer.member("app", delivery.app)
        writer.memberOrNull("caseId", delivery.caseID)
        writer.memberOrNull("user", delivery.presentUser?.value)
        writer.member("caller", delivery.caller)
        writer.member("transactionId", delivery.transactionID)
        writer.memberOrNull("environment", delivery.environment?.rawValue)
        writer.member("version", delivery.version.rawValue)
        writer.member("state", delivery.state.rawValue)
        writer.member("createdAt", Timestamp.text(delivery.createdAt))
        writer.member("deadline", Timestamp.text(delivery.deadline))
        writer.memberOrNull("nextAttemptAt", delivery.nextAttemptAt.map(Timestamp.text))
        writer.member("attemptCount", delivery.attemptCount)
        writer.memberArray("attempts") { writer in
            for attempt in delivery.attempts { write(attempt, to: &writer) }
        }
        writer.member("mayHaveReachedApple", delivery.mayHaveReachedApple)
        if let failure = delivery.failure {
            writer.memberObject("failure") { write(failure, to: &$0) }
        } else {
            writer.memberNull("failure")
        }
        writer.memberOrNull("endedAt", delivery.endedAt.map(Timestamp.text))
        writer.memberArray("warnings") { writer in
            for warning in delivery.warnings { writer.value(warning) }
        }
        if let policy = delivery.policy {
            writer.memberObject("policy") { write(policy, to: &$0) }
        } else {
            writer.memberNull("policy")
        }
        if delivery.isReportShown {
            writer.memberRaw("report", delivery.body)
        } else {
            writer.memberNull("report")
        }
    }

    /// What a problem tells of a delivery, so that its reader can look at the one that was meant.
    static func writeSummary(_ delivery: Delivery, to writer: inout JSONWriter) {
        writer.member("id", delivery.id)
        writer.member("state", delivery.state.rawValue)
        writer.memberOrNull("caseId", delivery.caseID)
        writer.member("transactionId", delivery.transactionID)
        writer.memberOrNull("environment", delivery.environment?.rawValue)
        writer.member("createdAt", Timestamp.text(delivery.createdAt))
        writer.member("deadline", Timestamp.text(delivery.deadline))
        writer.memberOrNull("endedAt", delivery.endedAt.map(Timestamp.text))
    }

    /// Writes a member with the ids of deliveries.
    static func writeIDs(_ name: String, _ deliveries: [Delivery], to writer: inout JSONWriter) {
        writer.memberArray(name) { writer in
            for delivery in deliveries { writer.value(delivery.id) }
        }
    }

    private static func write(_ policy: PolicyTrace, to writer: inout JSONWriter) {
        writer.member("rule", policy.rule)
        writer.memberArray("facts") { writer in
            for fact in policy.facts { writer.value(fact) }
        }
        writer.memberOrNull("usageAt", policy.usageAt.map(Timestamp.text))
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

    /// In the words of a problem, without what belongs to one request.
    private static func write(_ failure: DeliveryFailure, to writer: inout JSONWriter) {
        writer.member("reason", ProblemResponse.constant(failure.reason))
        writer.member("detail", failure.message)
        if let apple = failure.apple { writer.memberObject("apple") { ProblemResponse.write(apple, to: &$0) } }
    }
}
