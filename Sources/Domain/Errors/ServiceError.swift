/// The one error that crosses from the rules to the edge: what went wrong, in the caller's words, and what we keep to ourselves.
///
/// `message` is for the caller, `cause` for the log only; neither may hold a key, token, credential or signed payload.
/// Two errors are equal when they have the same code and reason.
package struct ServiceError: Error, Sendable {
    /// gRPC's canonical code, so that every listener of the API shares one table.
    ///
    /// Follows from `reason`; where Apple has rejected a request, from Apple's status.
    package var code: Code {
        switch (reason, apple?.httpStatus) {
        case (.appleRejected, 403): .permissionDenied
        case (.appleRejected, 404): .notFound
        case (.appleRejected, 409): .failedPrecondition
        default: reason.code
        }
    }
    /// What exactly went wrong: the last part of the problem's `type` URN.
    package let reason: Reason
    /// One sentence for the caller: what is wrong and what to do.
    package let message: String
    /// Detail for the operator's log, never for the caller.
    package let cause: String?
    /// How long to wait before trying again, where that is known.
    package let retryAfter: Duration?
    /// Every rule that the request breaks, each with its field.
    package let violations: [Violation]
    /// What Apple answered, when the failure is Apple's answer.
    package let apple: AppleFailure?
    /// The consumption delivery that the failure is about, with its attempts.
    package let delivery: Delivery?
    /// The cases that the request could mean, or the one that stands against it; where there is no open one, the user's latest.
    package let cases: [RefundCase]
    /// The user's latest deliveries, where no case waits for an answer.
    package let deliveries: [Delivery]
    /// Whose the purchase or the identifier is, where it is not the user's who was named.
    package let owner: UserID?
    /// The user who was named, where it is not the owner.
    package let user: UserID?

    package init(
        _ reason: Reason, _ message: String, cause: String? = nil, retryAfter: Duration? = nil,
        violations: [Violation] = [], apple: AppleFailure? = nil, delivery: Delivery? = nil, cases: [RefundCase] = [],
        deliveries: [Delivery] = [], owner: UserID? = nil, user: UserID? = nil
    ) {
        self.reason = reason
        self.message = message
        self.cause = cause
        self.retryAfter = retryAfter
        self.violations = violations
        self.apple = apple
        self.delivery = delivery
        self.cases = cases
        self.deliveries = deliveries
        self.owner = owner
        self.user = user
    }

    /// The most violations that an error reports.
    package static let maximumViolations = 100
    /// The most fields that its message names.
    private static let maximumNamedFields = 20

    /// The error of a request that breaks rules: all of them at once, up to ``maximumViolations``.
    package static func invalid(_ violations: [Violation]) -> ServiceError {
        var fields = violations.prefix(maximumNamedFields).map(\.field).joined(separator: ", ")
        if violations.count > maximumNamedFields { fields += " and others" }
        return ServiceError(
            .invalidRequest, "The request breaks these rules: \(fields).",
            violations: Array(violations.prefix(maximumViolations)))
    }

    /// The same failure, told of the delivery it befell.
    package func about(_ delivery: Delivery) -> ServiceError {
        ServiceError(
            reason, message, cause: cause, retryAfter: retryAfter, violations: violations, apple: apple,
            delivery: delivery, cases: cases, deliveries: deliveries, owner: owner, user: user)
    }
}

extension ServiceError: Equatable {
    package static func == (left: ServiceError, right: ServiceError) -> Bool { left.reason == right.reason }
}

/// One broken rule of a request.
package struct Violation: Sendable, Equatable {
    /// The field's name as the caller wrote it; nested fields as `appleV1.playTime`.
    package let field: String
    /// The rule's short stable name, such as `required`, `type`, `range`.
    package let rule: String
    /// What is wrong and how to mend it.
    package let message: String
    /// Apple's error for the same fault, where Apple has one.
    package let appleError: AppleErrorName?

    package init(field: String, rule: String, message: String, appleError: AppleErrorName? = nil) {
        self.field = field
        self.rule = rule
        self.message = message
        self.appleError = appleError
    }
}

/// Apple's name, and number where Apple publishes one, of an App Store Server API error.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes
package struct AppleErrorName: Sendable, Equatable {
    package let name: String
    package let code: Int64?

    package init(_ name: String, _ code: Int64?) {
        self.name = name
        self.code = code
    }
}

/// An error answer of the App Store, decoded.
package struct AppleFailure: Sendable, Equatable {
    package let httpStatus: Int
    package let errorCode: Int64?
    package let errorName: String?
    package let errorMessage: String?
    package let environment: AppStoreEnvironment
    /// Apple's name of the endpoint, such as `Get Refund History`.
    package let endpoint: String
    /// Apple's answer byte for byte, for those who expect it so; empty when only its meaning is known.
    package let body: [UInt8]

    package init(
        httpStatus: Int, errorCode: Int64?, errorName: String?, errorMessage: String?,
        environment: AppStoreEnvironment, endpoint: String, body: [UInt8] = []
    ) {
        self.httpStatus = httpStatus
        self.errorCode = errorCode
        self.errorName = errorName
        self.errorMessage = errorMessage
        self.environment = environment
        self.endpoint = endpoint
        self.body = body
    }
}

// MARK: Every reason

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
        case tokenRateExceeded = "token-rate-exceeded"
        case missingScope = "missing-scope"
        // What it is about.
        case appNotFound = "app-not-found"
        case linkNotFound = "link-not-found"
        case orderNotFound = "order-not-found"
        case callerNotFound = "caller-not-found"
        case callerCredentialNotFound = "caller-credential-not-found"
        case callerConflict = "caller-conflict"
        case keyNotFound = "key-not-found"
        case caseNotFound = "case-not-found"
        case deliveryNotFound = "delivery-not-found"
        case notificationNotFound = "notification-not-found"
        case receiptNotFound = "receipt-not-found"
        case usageNotFound = "usage-not-found"
        case nothingStored = "nothing-stored"
        case callbackNotFound = "callback-not-found"
        case callbackConflict = "callback-conflict"
        case environmentNotAllowed = "environment-not-allowed"
        case noTransactionKnown = "no-transaction-known"
        case linkConflict = "link-conflict"
        case linkEnvironmentWrong = "link-environment-wrong"
        case keyConflict = "key-conflict"
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
        case notificationNotSigned = "notification-not-signed"
        case notificationMisdirected = "notification-misdirected"
        case notificationTooOld = "notification-too-old"
        case verificationBusy = "verification-busy"
        // Receipts.
        case receiptNotSigned = "receipt-not-signed"
        // Apple.
        case budgetExhausted = "budget-exhausted"
        case appleRejected = "apple-rejected"
        case appleRateLimited = "apple-rate-limited"
        case appleUnauthorized = "apple-unauthorized"
        case appleAppUnknown = "apple-app-unknown"
        case noProductionRelease = "no-production-release"
        case appleUnavailable = "apple-unavailable"
        case appleAnswerInvalid = "apple-answer-invalid"
        case environmentNotSupported = "environment-not-supported"
        case outcomeUnknown = "outcome-unknown"
        case deadlineExceeded = "deadline-exceeded"
        // Ourselves.
        case keyUnavailable = "key-unavailable"
        case storeUnavailable = "store-unavailable"
        case auditUnavailable = "audit-unavailable"
        case configurationInvalid = "configuration-invalid"
        case consentUnknown = "consent-unknown"
        case overloaded = "overloaded"
        case internalError = "internal-error"

        /// The canonical code of this reason.
        package var code: Code {
            switch self {
            case .invalidRequest, .malformedJSON, .payloadTooLarge, .unsupportedMediaType, .pageTokenInvalid,
                .environmentNotAllowed, .appleRejected, .idempotencyKeyReused, .notificationNotSigned,
                .receiptNotSigned:
                .invalidArgument
            case .routeNotFound, .appNotFound, .linkNotFound, .orderNotFound, .callerNotFound,
                .callerCredentialNotFound, .keyNotFound, .caseNotFound,
                .deliveryNotFound, .notificationNotFound, .receiptNotFound, .usageNotFound, .nothingStored,
                .callbackNotFound:
                .notFound
            case .methodNotAllowed: .unimplemented
            case .snapshotExpired, .cursorExpired, .notificationTooOld: .outOfRange
            case .unauthenticated, .signatureInvalid: .unauthenticated
            case .missingScope: .permissionDenied
            case .noTransactionKnown, .linkConflict, .linkEnvironmentWrong, .keyConflict, .callerConflict,
                .callbackConflict, .configurationInvalid,
                .ownedByAnotherUser, .noProductionRelease,
                .noOpenCase,
                .severalOpenCases, .caseClosed, .deliveryUnderWay, .deliveryEnded, .consentWithdrawn:
                .failedPrecondition
            case .tooManyFailedAttempts, .tokenRateExceeded, .appleRateLimited, .budgetExhausted: .resourceExhausted
            case .appleUnauthorized, .appleAppUnknown, .appleUnavailable, .appleAnswerInvalid, .environmentNotSupported,
                .outcomeUnknown, .keyUnavailable, .storeUnavailable, .auditUnavailable, .consentUnknown,
                .notificationMisdirected,
                .verificationBusy,
                .overloaded:
                .unavailable
            case .deadlineExceeded: .deadlineExceeded
            case .internalError: .internalError
            }
        }
    }
}
