extension ServiceError {
    /// gRPC's canonical codes, as far as we use them.
    ///
    /// Source: https://grpc.github.io/grpc/core/md_doc_statuscodes.html
    package enum Code: String, Sendable, CaseIterable {
        case invalidArgument = "INVALID_ARGUMENT"
        case notFound = "NOT_FOUND"
        case permissionDenied = "PERMISSION_DENIED"
        case unauthenticated = "UNAUTHENTICATED"
        case failedPrecondition = "FAILED_PRECONDITION"
        case outOfRange = "OUT_OF_RANGE"
        case resourceExhausted = "RESOURCE_EXHAUSTED"
        case unavailable = "UNAVAILABLE"
        case deadlineExceeded = "DEADLINE_EXCEEDED"
        case unimplemented = "UNIMPLEMENTED"
        case internalError = "INTERNAL"
    }

    /// Every way a request can fail.
    ///
    /// The raw value ends the problem's `type` URN; `docs/errors.md` explains each.
    package enum Reason: String, Sendable, CaseIterable {
        // The request itself.
        case invalidRequest = "invalid-request"
        case malformedJSON = "malformed-json"
        case payloadTooLarge = "payload-too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case routeNotFound = "route-not-found"
        case methodNotAllowed = "method-not-allowed"
        case pageTokenInvalid = "page-token-invalid"
        case snapshotExpired = "snapshot-expired"
        case cursorExpired = "cursor-expired"
        case idempotencyKeyReused = "idempotency-key-reused"
        // Who asks.
        case unauthenticated = "unauthenticated"
        case tooManyFailedAttempts = "too-many-failed-attempts"
        case missingScope = "missing-scope"
        // What it is about.
        case appNotFound = "app-not-found"
        case linkNotFound = "link-not-found"
        case orderNotFound = "order-not-found"
        case callerKeyNotFound = "caller-key-not-found"
        case caseNotFound = "case-not-found"
        case deliveryNotFound = "delivery-not-found"
        case notificationNotFound = "notification-not-found"
        case environmentNotAllowed = "environment-not-allowed"
        case noTransactionKnown = "no-transaction-known"
        case linkConflict = "link-conflict"
        case ownedByAnotherUser = "owned-by-another-user"
        // Cases and deliveries.
        case noOpenCase = "no-open-case"
        case severalOpenCases = "several-open-cases"
        case caseClosed = "case-closed"
        case deliveryUnderWay = "delivery-under-way"
        case deliveryEnded = "delivery-ended"
        case consentWithdrawn = "consent-withdrawn"
        // Notifications.
        case signatureInvalid = "signature-invalid"
        case notificationMisdirected = "notification-misdirected"
        case notificationTooOld = "notification-too-old"
        case verificationBusy = "verification-busy"
        // Apple.
        case budgetExhausted = "budget-exhausted"
        case appleRejected = "apple-rejected"
        case appleRateLimited = "apple-rate-limited"
        case appleUnauthorized = "apple-unauthorized"
        case noProductionRelease = "no-production-release"
        case appleUnavailable = "apple-unavailable"
        case appleAnswerInvalid = "apple-answer-invalid"
        case environmentNotSupported = "environment-not-supported"
        case outcomeUnknown = "outcome-unknown"
        case deadlineExceeded = "deadline-exceeded"
        // Ourselves.
        case keyUnavailable = "key-unavailable"
        case storeUnavailable = "store-unavailable"
        case overloaded = "overloaded"
        case internalError = "internal-error"

        /// The canonical code of this reason.
        package var code: Code {
            switch self {
            case .invalidRequest, .malformedJSON, .payloadTooLarge, .unsupportedMediaType, .pageTokenInvalid,
                .environmentNotAllowed, .appleRejected, .idempotencyKeyReused:
                .invalidArgument
            case .routeNotFound, .appNotFound, .linkNotFound, .orderNotFound, .callerKeyNotFound, .caseNotFound,
                .deliveryNotFound, .notificationNotFound:
                .notFound
            case .methodNotAllowed: .unimplemented
            case .snapshotExpired, .cursorExpired, .notificationTooOld: .outOfRange
            case .unauthenticated, .signatureInvalid: .unauthenticated
            case .missingScope: .permissionDenied
            case .noTransactionKnown, .linkConflict, .ownedByAnotherUser, .noProductionRelease, .noOpenCase,
                .severalOpenCases, .caseClosed, .deliveryUnderWay, .deliveryEnded, .consentWithdrawn:
                .failedPrecondition
            case .tooManyFailedAttempts, .appleRateLimited, .budgetExhausted: .resourceExhausted
            case .appleUnauthorized, .appleUnavailable, .appleAnswerInvalid, .environmentNotSupported,
                .outcomeUnknown, .keyUnavailable, .storeUnavailable, .notificationMisdirected, .verificationBusy,
                .overloaded:
                .unavailable
            case .deadlineExceeded: .deadlineExceeded
            case .internalError: .internalError
            }
        }
    }
}
