import Domain

/// Why one attempt failed, and what that means for the next.
struct AttemptFailure: Error, Sendable {
    /// What to tell the caller if no further attempt helps.
    var error: ServiceError
    /// Whether Apple's documentation, or the nature of the failure, says that trying again may help.
    var isRetryable: Bool
    /// How long Apple asks to wait.
    var notBefore: Duration?
    /// Apple refused the token itself.
    var isUnauthorized = false
    /// The identifier is not in the environment that was asked.
    var isElsewhere = false
    /// The budget refused the call on account of who makes it; another caller might have been let through.
    var isOnCallersAccount = false
    /// Whether Apple may have received the request and acted on it, without our knowing.
    var mayHaveReachedApple = false
    /// Apple's HTTP status; nil when no answer came.
    var httpStatus: Int?
}

extension AttemptFailure {
    /// A failure before anything was sent, which another attempt does not mend.
    init(unsent error: ServiceError) { self.init(error: error, isRetryable: false) }

    /// The time of the call is over.
    static var outOfTime: AttemptFailure {
        AttemptFailure(unsent: ServiceError(.deadlineExceeded, "The time for this request is over."))
    }

    /// The environment's breaker lets nothing through.
    static func circuitIsOpen(_ environment: AppStoreEnvironment, for duration: Duration) -> AttemptFailure {
        AttemptFailure(
            unsent: ServiceError(
                .appleUnavailable,
                "Apple's \(environment.rawValue) has been failing; calls stop until it answers again.",
                cause: "the circuit is open", retryAfter: duration))
    }

    /// The budget does not admit the call.
    static func refused(_ refusal: BudgetDecision.Refusal, _ call: BudgetedCall) -> AttemptFailure {
        let message =
            switch refusal.cause {
            case .exhausted: "This app's calls of \(call.endpoint) are used up for now."
            case .unfair: "This caller has used its share of the app's calls of \(call.endpoint), and the rest is kept."
            case .quota: "This caller has used up its quota."
            case .apple: "Apple has asked to wait before the next call of \(call.endpoint)."
            }
        var failure = AttemptFailure(
            unsent: ServiceError(
                refusal.cause == .apple ? .appleRateLimited : .budgetExhausted, message, cause: "\(refusal.cause)",
                retryAfter: refusal.retryAfter))
        failure.isOnCallersAccount = refusal.cause == .unfair || refusal.cause == .quota
        return failure
    }

    /// The same failure of a call that Apple may have acted on and that must not be made again.
    var ofUnknownOutcome: AttemptFailure {
        var failure = self
        failure.isRetryable = false
        failure.error = ServiceError(
            .outcomeUnknown,
            "Apple may have acted on this call, but its answer did not come; the call is not repeated, because each has"
                + " an effect of its own.",
            cause: error.cause ?? error.message, apple: error.apple)
        return failure
    }
}
