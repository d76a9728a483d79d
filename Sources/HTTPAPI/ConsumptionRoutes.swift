import Domain
import Foundation
import HTTPTypes

/// Sending consumption: path and body to one request of the service, its delivery to JSON.
///
/// No rules here.
struct ConsumptionRoutes: Sendable {
    let service: ConsumptionService
    /// How long an answer waits for Apple when the client does not say.
    let defaultWait: Duration

    /// `POST /v1/apps/{app}/users/{user}/consumption`.
    func forUser(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let user = try UserID(try input.parameter("user"))
        return try await send(app, input, .body, route: "users/\(user)") { .user(user, transactionID: $0) }
    }

    /// `POST /v1/apps/{app}/transactions/{transactionId}/consumption`.
    func forTransaction(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let transactionID = try input.identifier("transactionId", .transaction)
        return try await send(app, input, .path(transactionID), route: "transactions/\(transactionID)") { _ in
            .transaction(transactionID)
        }
    }

    /// `POST /v1/apps/{app}/cases/{caseId}/consumption`.
    func forCase(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let id = try input.parameter("caseId")
        return try await send(app, input, .refundCase, route: "cases/\(id)") { _ in .refundCase(id) }
    }

    /// `route`: what tells the paths below an app apart; it goes into idempotency keys.
    private func send(
        _ app: App, _ input: RequestInput, _ source: ConsumptionBody.TransactionSource, route: String,
        _ target: (String?) -> ConsumptionService.Target
    ) async throws(ServiceError) -> Answer {
        let members = try input.jsonObject()
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: source == .refundCase ? [] : ["environment"])
        }
        let key = checks.run { () throws(ServiceError) in try IdempotencyKeyHeader.key(input.headers) }
        let body = checks.run { () throws(ServiceError) in
            try ConsumptionBody(members, app: app, source, queryEnvironment: try input.single("environment"))
        }
        guard checks.havePassed, let key, let body else { throw checks.error }
        let caller = input.caller?.name ?? ""
        let request = ConsumptionService.Request(
            caller: caller, target: target(body.transactionID), answer: body.answer, environment: body.environment,
            deadline: body.deadline, wait: min(wait(input.preferences), input.timeLeft),
            idempotencyKey: key.map {
                IdempotencyKey(caller: caller, app: app.slug, route: "\(route)/consumption", key: $0)
            },
            requestContent: Array("\(body.environment?.rawValue ?? "") ".utf8) + input.body, place: input.place)
        let delivery = try await service.send(
            request, input.call(app, body.environment, priority: .deadlineBound))
        var answer = Answer.object(delivery.state == .accepted ? .ok : .accepted) {
            DeliveryBody.write(delivery, to: &$0)
        }
        if delivery.state != .accepted { answer.headers[.location] = "/v1/apps/\(app.slug)/deliveries/\(delivery.id)" }
        return answer
    }

    /// How long the client waits; with both preferences, so long and no longer (RFC 7240 section 4.3).
    private func wait(_ preferences: PreferHeader) -> Duration {
        preferences.wait.map(Duration.seconds) ?? (preferences.respondsAsync ? .zero : defaultWait)
    }
}
