import Domain
import Foundation
import JSON

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
