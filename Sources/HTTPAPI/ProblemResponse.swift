package import Domain
import HTTPTypes
import JSON

/// Turns a `ServiceError` into a status and a problem body: the only place that does.
///
/// Source: RFC 9457 (Problem Details for HTTP APIs).
package enum ProblemResponse {
    /// The start of every problem type; the reason follows.
    package static let typePrefix = "urn:purser:error:"
    static let contentType = "application/problem+json"

    /// The answer to a request that failed.
    static func answer(_ error: ServiceError, requestID: String) -> Answer {
        let status = status(of: error)
        var writer = JSONWriter(capacity: 512)
        writer.object { write(error, status: status, requestID: requestID, to: &$0) }
        var headers: HTTPFields = [:]
        if let seconds = retryAfterSeconds(error) { headers[.retryAfter] = String(seconds) }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return Answer(
            status: status, contentType: contentType, headers: headers, body: .bytes(writer.takeBytes()))
    }

    /// Writes the members of the problem object; also used where a problem is part of a larger answer.
    static func write(
        _ error: ServiceError, status: HTTPResponse.Status, requestID: String, to writer: inout JSONWriter
    ) {
        writer.member("type", typePrefix + error.reason.rawValue)
        writer.member("title", title(of: error.reason))
        writer.member("status", status.code)
        writer.member("detail", error.message)
        writer.member("code", error.code.rawValue)
        writer.member("reason", constant(error.reason))
        writer.member("requestId", requestID)
        if !error.violations.isEmpty {
            writer.memberArray("violations") { writer in
                for violation in error.violations { write(violation, to: &writer) }
            }
        }
        if let apple = error.apple { writer.memberObject("apple") { write(apple, to: &$0) } }
        writer.memberIfPresent("retryAfter", retryAfterSeconds(error))
        if let delivery = error.delivery {
            writer.memberObject("delivery") { DeliveryBody.write(delivery, to: &$0) }
        }
        if !error.cases.isEmpty {
            writer.memberArray("cases") { writer in
                for refundCase in error.cases { writer.object { CaseBody.writeSummary(refundCase, to: &$0) } }
            }
        }
        if !error.deliveries.isEmpty {
            writer.memberArray("deliveries") { writer in
                for delivery in error.deliveries { writer.object { DeliveryBody.writeSummary(delivery, to: &$0) } }
            }
        }
        writer.memberIfPresent("owner", error.owner?.value)
        writer.memberIfPresent("user", error.user?.value)
    }

    /// Writes the member `problem`, where a part of a larger answer failed.
    static func writeMember(_ error: ServiceError, requestID: String, to writer: inout JSONWriter) {
        writer.memberObject("problem") { write(error, status: status(of: error), requestID: requestID, to: &$0) }
    }

    /// The HTTP status of an error.
    ///
    /// Apple's 4xx about the caller's input keep their status.
    static func status(of error: ServiceError) -> HTTPResponse.Status {
        switch error.reason {
        case .invalidRequest, .malformedJSON, .pageTokenInvalid, .environmentNotAllowed: .badRequest
        case .unauthenticated, .signatureInvalid: .unauthorized
        case .receiptNotSigned: HTTPResponse.Status(code: 402, reasonPhrase: "Payment Required")
        case .missingScope: .forbidden
        case .routeNotFound, .appNotFound, .linkNotFound, .orderNotFound, .callerNotFound,
            .callerCredentialNotFound, .keyNotFound, .caseNotFound,
            .deliveryNotFound, .notificationNotFound, .receiptNotFound, .usageNotFound, .nothingStored,
            .callbackNotFound:
            .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .noTransactionKnown, .linkConflict, .linkEnvironmentWrong, .keyConflict, .callerConflict,
            .callbackConflict, .configurationInvalid,
            .ownedByAnotherUser, .noProductionRelease,
            .noOpenCase,
            .severalOpenCases, .caseClosed, .deliveryUnderWay, .deliveryEnded, .consentWithdrawn:
            .conflict
        case .snapshotExpired, .cursorExpired, .notificationTooOld: .gone
        case .idempotencyKeyReused, .notificationNotSigned: .unprocessableContent
        case .payloadTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .tooManyFailedAttempts, .tokenRateExceeded, .appleRateLimited, .budgetExhausted: .tooManyRequests
        case .appleRejected: error.apple.map { HTTPResponse.Status(code: $0.httpStatus) } ?? .badRequest
        case .appleUnauthorized, .appleAppUnknown, .appleAnswerInvalid, .environmentNotSupported, .outcomeUnknown:
            .badGateway
        case .appleUnavailable, .keyUnavailable, .storeUnavailable, .auditUnavailable, .consentUnknown,
            .notificationMisdirected,
            .verificationBusy,
            .overloaded:
            .serviceUnavailable
        case .deadlineExceeded: .gatewayTimeout
        case .internalError: .internalServerError
        }
    }

    /// The HTTP status of errors with this reason, in as far as Apple's answer does not decide.
    package static func statusCode(of reason: ServiceError.Reason) -> Int {
        status(of: ServiceError(reason, "")).code
    }

    /// The short text that is the same for every occurrence of a problem type (RFC 9457 section 3.1.3).
    package static func title(of reason: ServiceError.Reason) -> String {
        switch reason {
        case .invalidRequest: "The request breaks a rule"
        case .malformedJSON: "The body is not a JSON object"
        case .payloadTooLarge: "Too large"
        case .unsupportedMediaType: "The body must be application/json"
        case .routeNotFound: "No such route"
        case .methodNotAllowed: "The route does not take this method"
        case .pageTokenInvalid: "The page token is not valid"
        case .snapshotExpired: "The list behind the page token is gone"
        case .unauthenticated: "Not authenticated"
        case .tooManyFailedAttempts: "Too many failed attempts to authenticate"
        case .tokenRateExceeded: "Too many tokens"
        case .missingScope: "A scope is missing"
        case .appNotFound: "No such app"
        case .linkNotFound: "No such link"
        case .orderNotFound: "No such order"
        case .nothingStored: "Nothing is stored"
        case .callerNotFound: "No such caller"
        case .callerCredentialNotFound: "The caller has no such credential"
        case .callerConflict: "The caller cannot be changed so"
        case .keyNotFound: "No such key"
        case .caseNotFound: "No such case"
        case .deliveryNotFound: "No such delivery"
        case .notificationNotFound: "No such notification"
        case .receiptNotFound: "No such receipt"
        case .usageNotFound: "No usage reported"
        case .callbackNotFound: "No such callback"
        case .callbackConflict: "Not with this callback now"
        case .configurationInvalid: "The configuration is wrong"
        case .receiptNotSigned: "Apple did not sign this receipt"
        case .noOpenCase: "The user has no open case"
        case .severalOpenCases: "The user has several open cases"
        case .caseClosed: "The case takes no answer"
        case .deliveryUnderWay: "Another answer is under way"
        case .deliveryEnded: "The delivery has ended"
        case .consentWithdrawn: "Consent was withdrawn"
        case .signatureInvalid: "Apple did not sign this"
        case .notificationNotSigned: "Apple did not sign this notification"
        case .notificationMisdirected: "A notification for another app or environment"
        case .notificationTooOld: "The notification is older than what is kept"
        case .verificationBusy: "Too many certificate chains at once"
        case .cursorExpired: "The events behind the cursor are gone"
        case .idempotencyKeyReused: "The idempotency key belongs to another request"
        case .environmentNotAllowed: "The app is not configured for this environment"
        case .noTransactionKnown: "No transaction of the user is known"
        case .linkConflict: "Linked to another user"
        case .keyConflict: "Not with this key now"
        case .linkEnvironmentWrong: "The link is for another environment"
        case .ownedByAnotherUser: "The purchase belongs to another user"
        case .budgetExhausted: "The budget of calls to Apple is used up"
        case .appleRejected: "Apple rejected the request"
        case .appleRateLimited: "Apple's rate limit is reached"
        case .appleUnauthorized: "Apple refused our token"
        case .appleAppUnknown: "Apple does not know our app"
        case .noProductionRelease: "The app has no production release"
        case .appleUnavailable: "Apple cannot be reached"
        case .appleAnswerInvalid: "Apple's answer did not verify"
        case .environmentNotSupported: "Data of this environment is refused"
        case .outcomeUnknown: "Nobody knows whether Apple did it"
        case .deadlineExceeded: "Out of time"
        case .keyUnavailable: "No key can sign for this app"
        case .overloaded: "Too many requests at once"
        case .storeUnavailable: "The store cannot be used"
        case .auditUnavailable: "The audit cannot be written"
        case .consentUnknown: "Who has withdrawn consent cannot be told"
        case .internalError: "Internal error"
        }
    }

    /// The reason as a constant, such as `NO_TRANSACTION_KNOWN`.
    package static func constant(_ reason: ServiceError.Reason) -> String {
        String(reason.rawValue.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// Whole seconds, rounded up, so that nobody comes back too early.
    private static func retryAfterSeconds(_ error: ServiceError) -> Int64? {
        error.retryAfter.map { duration in
            let (seconds, attoseconds) = duration.components
            return max(0, attoseconds > 0 ? seconds + 1 : seconds)
        }
    }

    private static func write(_ violation: Violation, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("field", violation.field)
            writer.member("rule", violation.rule)
            writer.member("message", violation.message)
            if let error = violation.appleError {
                writer.member("appleErrorName", error.name)
                writer.memberOrNull("appleErrorCode", error.code)
            }
        }
    }

    /// Writes the members of `apple`.
    static func write(_ apple: AppleFailure, to writer: inout JSONWriter) {
        writer.member("httpStatus", apple.httpStatus)
        writer.memberOrNull("errorCode", apple.errorCode)
        writer.memberOrNull("errorName", apple.errorName)
        writer.memberOrNull("errorMessage", apple.errorMessage)
        writer.member("environment", apple.environment.rawValue)
        writer.member("endpoint", apple.endpoint)
    }
}
