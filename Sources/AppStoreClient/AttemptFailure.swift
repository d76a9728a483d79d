import Domain

/// Why one attempt failed, and what that means for the next.
struct AttemptFailure: Error, Sendable {
    /// What to tell the caller if no further attempt helps.
    let error: ServiceError
    /// Whether Apple's documentation, or the nature of the failure, says that trying again may help.
    let isRetryable: Bool
    /// How long Apple asks to wait.
    var notBefore: Duration?
    /// Apple refused the token itself.
    var isUnauthorized = false
    /// The identifier is not in the environment that was asked.
    var isElsewhere = false
    /// Whether Apple may have received the request.
    var mayHaveReachedApple: Bool
    /// Apple's HTTP status; nil when no answer came.
    var httpStatus: Int?
}
