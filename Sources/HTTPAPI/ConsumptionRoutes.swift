import Domain
import Foundation
import JSON

/// Sending consumption: path and body to one request of the service, its delivery to JSON.
///
/// No rules here.
struct ConsumptionRoutes: Sendable {
    let service: ConsumptionService

    /// `POST /v1/apps/{app}/users/{user}/consumption`.
    func forUser(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let user = try UserID(try input.parameter("user"))
        return try await send(app, input, user: user, pathTransactionID: nil)
    }

    /// `POST /v1/apps/{app}/transactions/{transactionId}/consumption`.
    func forTransaction(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let transactionID = try input.parameter("transactionId")
        try AppleIdentifier.transaction.check(transactionID, field: "transactionId")
        return try await send(app, input, user: nil, pathTransactionID: transactionID)
    }

    private func send(
        _ app: App, _ input: RequestInput, user: UserID?, pathTransactionID: String?
    ) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: ["environment"])
        let body = try ConsumptionBody(
            try input.jsonObject(), app: app, pathTransactionID: pathTransactionID,
            queryEnvironment: try input.single("environment"))
        let request = ConsumptionService.Request(
            caller: input.caller?.name ?? "", user: user, transactionID: body.transactionID, answer: body.answer,
            deadline: body.deadline)
        let delivery = try await service.send(
            request, input.call(app, body.environment, priority: .deadlineBound))
        return Answer.object { DeliveryBody.write(delivery, to: &$0) }
    }
}

/// The body of a consumption request, read with all its violations at once.
struct ConsumptionBody: Sendable {
    let transactionID: String
    let environment: AppStoreEnvironment?
    let deadline: Date?
    let answer: ConsumptionAnswer

    /// Reads a body, with the transaction that the path names, if it does, and the query parameter `environment`.
    ///
    /// - Throws: `invalidRequest` with every violation, `environmentNotAllowed`.
    init(
        _ members: JSONMembers, app: App, pathTransactionID: String?, queryEnvironment: String?
    ) throws(ServiceError) {
        var violations: [Violation] = []
        var fields = members.fieldValues
        let named = Self.take("transactionId", from: &fields, expected: "a string", &violations)
        if let named, let pathTransactionID, named != pathTransactionID {
            violations.append(
                Violation(
                    field: "transactionId", rule: "contradiction",
                    message: "The body names another transaction than the path; leave it out of the body."))
        } else if let named {
            Self.collect(&violations) { () throws(ServiceError) in
                try AppleIdentifier.transaction.check(named, field: "transactionId")
            }
        } else if pathTransactionID == nil, !violations.contains(where: { $0.field == "transactionId" }) {
            violations.append(
                Violation(
                    field: "transactionId", rule: "required",
                    message: "`transactionId` is required: the one of Apple's notification, exactly.",
                    appleError: AppleErrorName("InvalidTransactionIdError", 4_000_006)))
        }
        let environmentText = Self.take("environment", from: &fields, expected: "a string", &violations)
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
        guard violations.isEmpty, let answer, let transactionID = pathTransactionID ?? named else {
            throw .invalid(violations)
        }
        self.transactionID = transactionID
        self.environment = environment
        self.deadline = deadline
        self.answer = answer
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

extension JSONMembers {
    /// The members as the rules read them.
    var fieldValues: [String: FieldValue] {
        Dictionary(map { ($0.key, $0.value.fieldValue) }) { first, _ in first }
    }
}

extension JSONSlice {
    /// The value as the rules read it.
    var fieldValue: FieldValue {
        switch kind {
        case .null: .null
        case .bool: .boolean(bool ?? false)
        case .number: int64.map(FieldValue.integer) ?? .number(double ?? .infinity)
        case .string: .string(string ?? "")
        case .array: .array(array?.map(\.fieldValue) ?? [])
        case .object: .object
        }
    }
}
