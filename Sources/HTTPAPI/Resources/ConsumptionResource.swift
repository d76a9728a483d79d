import Domain
import HTTPTypes

/// Sending consumption: path and body to one request of the service, its delivery to JSON.
///
/// No rules here.
struct ConsumptionRoutes: Sendable {
    let service: ConsumptionService
    /// How long an answer waits for Apple when the client does not say.
    let defaultWait: @Sendable () -> Duration

    /// `POST /v1/apps/{app}/users/{user}/consumption`.
    func forUser(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await send(app, input) { ConsumptionSubject(ofUser: &$0, app) }
    }

    /// `POST /v1/apps/{app}/transactions/{transactionId}/consumption`.
    func forTransaction(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await send(app, input) { ConsumptionSubject(ofTransaction: &$0, app) }
    }

    /// `POST /v1/apps/{app}/cases/{caseId}/consumption`.
    func forCase(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await send(app, input) { ConsumptionSubject(ofCase: &$0) }
    }

    private func send(
        _ app: App, _ input: RequestInput, about read: (inout FieldReader) -> ConsumptionSubject?
    ) async throws(ServiceError) -> Answer {
        var fields = try input.fields(headers: [.idempotencyKey])
        let subject = read(&fields)
        let isSubjectKnown = fields.isValidSoFar
        let key = fields.idempotencyKey()
        let deadline = fields.time("deadline")
        let reading = ConsumptionRules.read(&fields, passThrough: app.additionalConsumptionFields)
        guard fields.isValid, let subject, let answer = reading.answer else {
            // What the purchase forbids is told along, so that whoever mends the body need not come a third time.
            fields.note(
                await service.violations(
                    of: reading.outline, until: deadline, about: isSubjectKnown ? subject?.target : nil,
                    in: subject?.environment, app))
            throw fields.error
        }
        let (caller, environment) = (input.caller?.name ?? "", subject.environment)
        let request = ConsumptionService.Request(
            caller: caller, target: subject.target, answer: answer, environment: environment, deadline: deadline,
            wait: min(wait(input.preferences), input.timeLeft),
            idempotencyKey: key.map {
                IdempotencyKey(caller: caller, app: app.slug, route: "\(subject.route)/consumption", key: $0)
            },
            requestContent: Array("\(environment?.rawValue ?? "") ".utf8) + (input.body ?? []), slot: input.slot)
        let delivery = try await service.send(request, input.call(app, environment, priority: .deadlineBound))
        var answered = Answer.object(delivery.state == .accepted ? .ok : .accepted) {
            DeliveryBody.write(delivery, to: &$0)
        }
        if delivery.state != .accepted {
            answered.headers[.location] = "/v1/apps/\(app.slug)/deliveries/\(delivery.id)"
        }
        return answered
    }

    /// How long the client waits; with both preferences, so long and no longer (RFC 7240 section 4.3).
    private func wait(_ preferences: PreferHeader) -> Duration {
        preferences.wait.map(Duration.seconds) ?? (preferences.respondsAsync ? .zero : defaultWait())
    }
}

/// What a consumption request is about, by path, query and body.
private struct ConsumptionSubject {
    let target: ConsumptionService.Target
    /// What tells the paths below an app apart; it goes into idempotency keys.
    let route: String
    /// Where the transaction is, if the caller says.
    var environment: AppStoreEnvironment?

    /// The user of the path, and the transaction that the body names, if it names one; nil when a rule is broken.
    init?(ofUser fields: inout FieldReader, _ app: App) {
        let user = fields.user()
        let transactionID = fields.identifier("transactionId", .transaction, in: .body, isRequired: false)
        environment = Self.environment(&fields, app)
        guard let user else { return nil }
        target = .user(user, transactionID: transactionID)
        route = "users/\(user)"
    }

    /// The transaction of the path; the body may say the same.
    init?(ofTransaction fields: inout FieldReader, _ app: App) {
        let transactionID = fields.identifier("transactionId", .transaction, in: .path)
        if let named = fields.text("transactionId"), let transactionID, named != transactionID {
            fields.note(
                "transactionId", "contradiction",
                "The body names another transaction than the path; leave it out of the body.")
        }
        environment = Self.environment(&fields, app)
        guard let transactionID else { return nil }
        target = .transaction(transactionID)
        route = "transactions/\(transactionID)"
    }

    /// The case of the path, which knows the transaction and its environment.
    init?(ofCase fields: inout FieldReader) {
        for name in ["transactionId", "environment"] {
            fields.forbid(
                name, "contradiction", "The case of the path knows its `\(name)`; leave it out of the body.")
        }
        guard let id = fields.text("caseId", in: .path) else { return nil }
        target = .refundCase(id)
        route = "cases/\(id)"
    }

    /// The environment that body or query name.
    private static func environment(_ fields: inout FieldReader, _ app: App) -> AppStoreEnvironment? {
        let inQuery = fields.environment(for: app)
        let inBody = fields.environment(for: app, in: .body)
        if let inBody, let inQuery, inBody != inQuery {
            fields.note(
                "environment", "contradiction", "Body and query name different environments; give it once.")
        }
        return inBody ?? inQuery
    }
}
