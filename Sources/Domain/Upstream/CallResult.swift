/// What one call of Apple's API came to: its answer or why there is none, and every attempt on the way.
///
/// It is made where the call is, and read as it is wherever somebody decides: whether to ask in the other environment, what
/// a delivery comes to, what a caller is told.
package struct CallResult<Value: Sendable>: Sendable {
    package var outcome: Result<Value, CallFailure>
    /// Apple's answer where it is a failure, as it came, for those who pass it on; nil when there is none, and for a refused
    /// token, which is no caller's affair.
    package var refusal: Value?
    /// Every attempt, in order; none when nothing was sent.
    package var attempts: [DeliveryAttempt]
    /// Whether Apple may have acted on an attempt that is not known to have succeeded.
    package var mayHaveReachedApple: Bool

    package init(
        _ outcome: Result<Value, CallFailure>, refusal: Value? = nil, attempts: [DeliveryAttempt] = [],
        mayHaveReachedApple: Bool = false
    ) {
        self.outcome = outcome
        self.refusal = refusal
        self.attempts = attempts
        self.mayHaveReachedApple = mayHaveReachedApple
    }

    /// Why the call failed; nil when it succeeded.
    package var failure: CallFailure? {
        guard case .failure(let failure) = outcome else { return nil }
        return failure
    }

    /// The same result for somebody whom success itself is enough.
    package var withoutAnswer: CallResult<Void> {
        CallResult<Void>(outcome.map { _ in }, attempts: attempts, mayHaveReachedApple: mayHaveReachedApple)
    }

    /// The result that the call ends with when nothing more is sent.
    package func ended(by failure: CallFailure) -> CallResult {
        CallResult(.failure(failure), attempts: attempts, mayHaveReachedApple: mayHaveReachedApple)
    }
}

/// Why a call of Apple's API failed, and what that means for the next.
package struct CallFailure: Error, Sendable {
    /// What to tell the caller if no further attempt helps.
    package var error: ServiceError
    /// Whether Apple's documentation, or the nature of the failure, says that the same call may succeed within seconds.
    package var isRetryable: Bool
    /// How long Apple asks to wait.
    package var notBefore: Duration?
    /// The identifier is not in the environment that was asked.
    package var isElsewhere: Bool
    /// On whose account the budget refused the call, which it might have admitted from somebody else; nil for any other
    /// failure.
    package var refusedCaller: String?
    /// Whether Apple may have received the attempt and acted on it, without our knowing.
    package var mayHaveReachedApple: Bool

    package init(
        _ error: ServiceError, isRetryable: Bool = false, notBefore: Duration? = nil, isElsewhere: Bool = false,
        refusedCaller: String? = nil, mayHaveReachedApple: Bool = false
    ) {
        self.error = error
        self.isRetryable = isRetryable
        self.notBefore = notBefore
        self.isElsewhere = isElsewhere
        self.refusedCaller = refusedCaller
        self.mayHaveReachedApple = mayHaveReachedApple
    }

    /// Apple's HTTP status; nil when no answer came.
    package var httpStatus: Int? { error.apple?.httpStatus }
}
