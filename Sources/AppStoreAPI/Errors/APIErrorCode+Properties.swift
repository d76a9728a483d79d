extension APIErrorCode {
    /// Apple's name, such as `InvalidTransactionIdError`.
    package var name: String { rawValue }

    /// The HTTP status that goes with the error: the first three digits of its number.
    ///
    /// Apple names five errors without a number; all of them are about the content of a request, hence 400.
    package var httpStatus: Int { code.map { Int($0 / 10_000) } ?? 400 }

    /// Whether Apple says that the same request may succeed later.
    ///
    /// After ``rateLimitExceeded`` not before the time in `Retry-After`.
    package var isRetryable: Bool {
        switch self {
        case .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
            .rateLimitExceeded, .generalInternal, .generalInternalRetryable:
            true
        default:
            false
        }
    }

    /// Whether Apple has stopped sending it.
    package var isDeprecated: Bool {
        self == .invalidExcludeRevoked || self == .invalidTransactionNotConsumable
    }
}
