import AppStoreAPI
import Curl
import Domain
import Foundation

/// Turns what came back from Apple, or did not, into a failure of ours.
struct AppleFailureMapping: Sendable {
    let now: WallClock

    /// An answer that is no success.
    func failure(
        _ response: CurlResponse, to operation: Endpoint.Operation, in environment: AppStoreEnvironment
    ) -> CallFailure {
        guard response.origin(to: operation) != .inBetween else { return foreign(response, operation, environment) }
        let payload = try? ErrorPayload(parsing: response.body)
        let known = payload?.errorCode.flatMap(APIErrorCode.init(code:))
        let apple = AppleFailure(
            httpStatus: response.status, errorCode: payload?.errorCode, errorName: known?.name,
            errorMessage: payload?.errorMessage, environment: environment, endpoint: operation.name,
            body: response.body)
        var failure = CallFailure(
            error(apple, known, response), isRetryable: known?.isRetryable ?? (response.status >= 500),
            isElsewhere: isElsewhere(payload?.errorCode, operation), mayHaveReachedApple: response.status >= 500)
        if response.status == 429 {
            failure.isRetryable = true
            failure.notBefore = retryAfter(response) ?? .seconds(1)
        }
        return failure
    }

    /// An answer that is not Apple's: whoever gave it may have asked Apple before.
    private func foreign(
        _ response: CurlResponse, _ operation: Endpoint.Operation, _ environment: AppStoreEnvironment
    ) -> CallFailure {
        CallFailure(
            ServiceError(
                .appleUnavailable,
                "Something between us and Apple answered in its place; nothing is wrong with the request.",
                cause:
                    "status \(response.status) without a body of Apple's to \(operation.name) in \(environment.rawValue)"
            ), isRetryable: true, mayHaveReachedApple: true)
    }

    /// Whether the error says that the identifier may belong to the other environment.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/transactionidnotfounderror,
    /// https://developer.apple.com/documentation/appstoreserverapi/originaltransactionidnotfounderror
    private func isElsewhere(_ code: Int64?, _ operation: Endpoint.Operation) -> Bool {
        switch code.flatMap(APIErrorCode.init(code:)) {
        case .transactionIdNotFound: true
        case .originalTransactionIdNotFound: operation.pathTemplate.contains("{originalTransactionId}")
        default: false
        }
    }

    /// A transfer that brought no answer.
    func failure(_ error: CurlError) -> CallFailure {
        let reason: ServiceError.Reason = error.kind == .timeout ? .deadlineExceeded : .appleUnavailable
        let message =
            error.kind == .timeout
            ? "Apple did not answer in time." : "Apple cannot be reached; nothing is wrong with the request."
        return CallFailure(
            ServiceError(reason, message, cause: "\(error)"), isRetryable: Self.isRetryable(error.kind),
            mayHaveReachedApple: error.requestMayHaveBeenSent)
    }

    private static func isRetryable(_ kind: CurlError.Kind) -> Bool {
        switch kind {
        case .nameResolution, .addressRefused, .connectFailed, .timeout, .connectionLost, .protocolError, .other: true
        // Neither a bad certificate nor an answer that is too large mends itself within seconds.
        case .tls, .responseTooLarge, .tooLate, .invalidRequest, .cancelled, .shutDown: false
        }
    }

    private func error(_ apple: AppleFailure, _ known: APIErrorCode?, _ response: CurlResponse) -> ServiceError {
        let name = apple.errorName ?? apple.errorMessage ?? "status \(apple.httpStatus)"
        switch apple.httpStatus {
        case 401:
            return ServiceError(
                .appleUnauthorized, "Apple refused our token; the platform team must look at the app's key.",
                cause: "401 from \(apple.endpoint) in \(apple.environment.rawValue)", apple: apple)
        case 429:
            return ServiceError(
                .appleRateLimited, "Apple's rate limit for this app and endpoint is reached.",
                retryAfter: retryAfter(response) ?? .seconds(1), apple: apple)
        case 400..<500 where known?.isAboutOurApp == true:
            return ServiceError(
                .appleAppUnknown,
                "Apple does not know the app as it is configured here; the platform team must look at it.",
                cause:
                    "\(name) from \(apple.endpoint) in \(apple.environment.rawValue): check the app's bundle id and Apple app id",
                retryAfter: known?.isRetryable == true ? .seconds(1) : nil, apple: apple)
        case 400..<500:
            // Some of Apple's errors ask to be tried again.
            return ServiceError(
                .appleRejected, "Apple rejected the request: \(name).",
                retryAfter: known?.isRetryable == true ? .seconds(1) : nil, apple: apple)
        default:
            return ServiceError(
                .appleUnavailable, "Apple failed: \(name).", cause: "status \(apple.httpStatus)", apple: apple)
        }
    }

    /// How long Apple asks to wait.
    ///
    /// Its `Retry-After` is an absolute UNIX time in milliseconds, by Apple's clock, which the answer tells to the second; ours
    /// is finer, and is used where it agrees. One that asks for more than `RateBudgets.longestBlock` is no such time (one in
    /// microseconds, for instance), and what is known of Apple's limits then is that they are by the hour.
    private func retryAfter(_ response: CurlResponse) -> Duration? {
        response.headers["Retry-After"].flatMap { RetryAfter(headerValue: $0) }.map { time in
            let (told, ours) = (response.headers.date ?? now(), now())
            let appleTime = abs(told.timeIntervalSince(ours)) <= SteadyClock.tolerance ? ours : told
            let (wait, isOverflow) = time.millisecondsSince1970.subtractingReportingOverflow(appleTime.milliseconds)
            guard !isOverflow, .milliseconds(wait) <= RateBudgets.longestBlock else { return Self.limitWindow }
            return .milliseconds(max(0, wait))
        }
    }

    /// The time over which Apple counts calls.
    private static let limitWindow = Duration.seconds(3600)
}

// MARK: Whose answer it is

extension CurlResponse {
    /// Who gave an answer.
    enum Origin: Sendable, Equatable {
        case apple
        /// Apple, or a machine in between that could not reach it.
        case appleOrInBetween
        /// A proxy, a filter, a captive portal.
        case inBetween
    }

    /// Who gave this answer, as far as its form tells.
    ///
    /// Apple answers with a JSON object or nothing. Its refusals have an `errorCode`; 401 has no body, and that of a 429 or a
    /// 5xx does not matter for what follows. Redirects it has none. A consumption answer is accepted by 202, and by nothing
    /// else that could be taken for it by mistake: an answer that is sent again does no harm, one that never arrived does.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information,
    /// https://developer.apple.com/documentation/appstoreserverapi/error-codes
    func origin(to operation: Endpoint.Operation) -> Origin {
        switch status {
        case 200..<300 where operation.isConsumption: status == 202 && isEmptyOrObject ? .apple : .inBetween
        case 200..<300: isEmptyOrObject ? .apple : .inBetween
        case 401: .apple
        // In the sandbox Apple has no such call, and says so without a body.
        case 404 where operation == .lookUpOrderID && body.isEmpty: .apple
        case 429, 500...: hasErrorCode ? .apple : .appleOrInBetween
        default: hasErrorCode ? .apple : .inBetween
        }
    }

    private var isEmptyOrObject: Bool {
        let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        return body.first { !blanks.contains($0) }.map { $0 == UInt8(ascii: "{") } ?? true
    }

    private var hasErrorCode: Bool { (try? ErrorPayload(parsing: body))?.errorCode != nil }
}

extension Endpoint.Operation {
    fileprivate var isConsumption: Bool {
        self == .sendConsumptionInformation || self == .sendConsumptionInformationV1
    }
}

// MARK: Failures without an answer

extension CallFailure {
    /// The time of the call is over.
    static var outOfTime: CallFailure {
        CallFailure(ServiceError(.deadlineExceeded, "The time for this request is over."))
    }

    /// The environment's breaker lets nothing through.
    static func circuitIsOpen(_ environment: AppStoreEnvironment, for duration: Duration) -> CallFailure {
        CallFailure(
            ServiceError(
                .appleUnavailable,
                "Apple's \(environment.rawValue) has been failing; calls stop until it answers again.",
                cause: "the circuit is open", retryAfter: duration))
    }

    /// The budget does not admit the call.
    static func refused(_ refusal: BudgetDecision.Refusal, _ call: BudgetedCall) -> CallFailure {
        let message =
            switch refusal.cause {
            case .exhausted: "This app's calls of \(call.endpoint) are used up for now."
            case .unfair: "This caller has used its share of the app's calls of \(call.endpoint), and the rest is kept."
            case .quota: "This caller has used up its quota."
            case .apple: "Apple has asked to wait before the next call of \(call.endpoint)."
            }
        let isOnCallersAccount = refusal.cause == .unfair || refusal.cause == .quota
        return CallFailure(
            ServiceError(
                refusal.cause == .apple ? .appleRateLimited : .budgetExhausted, message, cause: "\(refusal.cause)",
                retryAfter: refusal.retryAfter),
            refusedCaller: isOnCallersAccount ? call.caller : nil)
    }

    /// The same failure of a call that Apple may have acted on and that must not be made again.
    var ofUnknownOutcome: CallFailure {
        var failure = self
        failure.isRetryable = false
        failure.error = ServiceError(
            .outcomeUnknown,
            "Apple may have acted on this call, but its answer did not come; the call is not repeated, because each has"
                + " an effect of its own.",
            cause: error.cause ?? error.message, apple: error.apple)
        return failure
    }

    /// The failure of a call whose token Apple refuses, told by what was found out.
    init(_ finding: UnauthorizedFinding, of failure: CallFailure) {
        self = failure
        isRetryable = false
        error = finding.error(apple: failure.error.apple)
    }
}
