/// Runs the checks of a request one after the other and keeps what each finds, so that the caller learns of every broken
/// rule at once.
package struct RequestChecks: Sendable {
    private var violations: [Violation] = []
    private var other: ServiceError?

    package init() {}

    /// Whether no check has failed so far.
    package var havePassed: Bool { violations.isEmpty && other == nil }

    /// Runs one check.
    ///
    /// - Returns: what the check returns; nil when it failed.
    package mutating func run<Value>(_ check: () throws(ServiceError) -> Value) -> Value? {
        do throws(ServiceError) {
            return try check()
        } catch {
            if error.violations.isEmpty { other = other ?? error } else { violations += error.violations }
            return nil
        }
    }

    /// Runs a check of which only the failure matters.
    package mutating func require(_ check: () throws(ServiceError) -> Void) {
        _ = run(check)
    }

    /// Notes a rule that the request breaks.
    package mutating func note(_ violation: Violation) {
        violations.append(violation)
    }

    /// What to tell the caller once a check has failed.
    package var error: ServiceError {
        guard let other else { return .invalid(violations) }
        guard !violations.isEmpty else { return other }
        let field = other.reason == .environmentNotAllowed ? "environment" : "request"
        return .invalid(violations + [Violation(field: field, rule: other.reason.rawValue, message: other.message)])
    }
}
