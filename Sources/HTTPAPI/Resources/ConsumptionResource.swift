import Domain
import Foundation
import HTTPTypes
import JSON

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
            requestContent: Array("\(body.environment?.rawValue ?? "") ".utf8) + input.body, slot: input.slot)
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

/// The body of a consumption request, read with all its violations at once.
struct ConsumptionBody: Sendable {
    /// Where a request says what it is about.
    enum TransactionSource: Equatable {
        /// In the body, if at all.
        case body
        /// In the path; the body may say the same.
        case path(String)
        /// The case that the path names knows the transaction and its environment.
        case refundCase
    }

    /// What the body names; nil when it names none.
    let transactionID: String?
    let environment: AppStoreEnvironment?
    let deadline: Date?
    let answer: ConsumptionAnswer

    /// Reads a body; `queryEnvironment` is the query parameter `environment`.
    ///
    /// - Throws: `invalidRequest` with every violation, `environmentNotAllowed`.
    init(
        _ members: JSONMembers, app: App, _ source: TransactionSource, queryEnvironment: String?
    ) throws(ServiceError) {
        var violations: [Violation] = []
        var fields = members.fieldValues
        let named = Self.take("transactionId", from: &fields, expected: "a string", &violations)
        let environmentText = Self.take("environment", from: &fields, expected: "a string", &violations)
        Self.check(named, environmentText, source, &violations)
        if let environmentText, let queryEnvironment, environmentText != queryEnvironment {
            violations.append(
                Violation(
                    field: "environment", rule: "contradiction",
                    message: "Body and query name different environments; give it once."))
        }
        var environment: AppStoreEnvironment?
        Self.collect(&violations) { () throws(ServiceError) in
            environment = try RequestInput.environment(environmentText ?? queryEnvironment, for: app)
        }
        let deadlineText = Self.take("deadline", from: &fields, expected: "an RFC 3339 time", &violations)
        let deadline = deadlineText.flatMap(Timestamp.date)
        if deadlineText != nil, deadline == nil {
            violations.append(
                Violation(
                    field: "deadline", rule: "format",
                    message: "`deadline` must be an RFC 3339 time, such as 2026-01-31T12:00:00Z."))
        }
        var answer: ConsumptionAnswer?
        Self.collect(&violations) { () throws(ServiceError) in
            answer = try Self.answer(members["appleV1"], rest: fields, app: app)
        }
        guard violations.isEmpty, let answer else { throw .invalid(violations) }
        transactionID = named
        self.environment = environment
        self.deadline = deadline
        self.answer = answer
    }

    /// Checks what the body says of the transaction against where the request says it.
    private static func check(
        _ transactionID: String?, _ environment: String?, _ source: TransactionSource,
        _ violations: inout [Violation]
    ) {
        switch source {
        case .body:
            guard let transactionID else { return }
            collect(&violations) { () throws(ServiceError) in
                try AppleIdentifier.transaction.check(transactionID, field: "transactionId")
            }
        case .path(let path):
            guard let transactionID, transactionID != path else { return }
            violations.append(
                Violation(
                    field: "transactionId", rule: "contradiction",
                    message: "The body names another transaction than the path; leave it out of the body."))
        case .refundCase:
            for (name, value) in [("transactionId", transactionID), ("environment", environment)] where value != nil {
                violations.append(
                    Violation(
                        field: name, rule: "contradiction",
                        message: "The case of the path knows its `\(name)`; leave it out of the body."))
            }
        }
    }

    /// Version 1 when `appleV1` is there, else version 2.
    private static func answer(
        _ version1: JSONSlice?, rest: [String: FieldValue], app: App
    ) throws(ServiceError) -> ConsumptionAnswer {
        guard let version1 else {
            return .v2(try ConsumptionRules.version2(rest, passThrough: app.additionalConsumptionFields))
        }
        var violations = rest.keys.filter { $0 != "appleV1" }.sorted().map {
            Violation(
                field: $0, rule: "unknownField",
                message: "`\($0)` cannot stand beside `appleV1`; put version 1 fields inside it.")
        }
        var answer: ConsumptionV1?
        if let object = version1.object {
            collect(&violations) { () throws(ServiceError) in
                answer = try ConsumptionRules.version1(object.fieldValues)
            }
        } else {
            violations.append(
                Violation(
                    field: "appleV1", rule: "type", message: "`appleV1` must be an object of the version 1 fields."))
        }
        guard violations.isEmpty, let answer else { throw .invalid(violations) }
        return .v1(answer)
    }

    private static func take(
        _ name: String, from fields: inout [String: FieldValue], expected: String, _ violations: inout [Violation]
    ) -> String? {
        switch fields.removeValue(forKey: name) {
        case nil: return nil
        case .string(let text): return text
        case .some(let other):
            violations.append(
                Violation(field: name, rule: "type", message: "`\(name)` must be \(expected), not \(other.typeName)."))
            return nil
        }
    }

    /// Runs one check and keeps what it finds, so that the next one runs too.
    private static func collect(_ violations: inout [Violation], _ check: () throws(ServiceError) -> Void) {
        do {
            try check()
        } catch {
            violations +=
                error.violations.isEmpty
                ? [Violation(field: "environment", rule: error.reason.rawValue, message: error.message)]
                : error.violations
        }
    }
}
