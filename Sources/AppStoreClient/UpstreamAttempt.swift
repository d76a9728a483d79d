import AppStoreAPI
import Curl
import Domain
import Foundation

/// One attempt of a call: it is sent only if Apple takes our tokens, the breaker is closed and the budget admits it.
struct UpstreamAttempt: Sendable {
    let parts: UpstreamParts
    let request: UpstreamRequest
    let call: UpstreamCall
    let environment: AppStoreEnvironment

    /// What an attempt brought.
    struct Outcome: Sendable {
        /// Nil when nothing was sent.
        var record: DeliveryAttempt?
        var token: BearerToken?
        let result: Result<CurlResponse, AttemptFailure>
        /// Apple's answer, success or not, but for 401.
        var answer: CurlResponse?

        init(_ failure: AttemptFailure) { result = .failure(failure) }

        init(_ result: Result<CurlResponse, AttemptFailure>) { self.result = result }
    }

    /// A timeout tells nothing of Apple when the caller left it less time.
    private static let fairTimeout = Duration.seconds(2)

    /// Makes the attempt.
    ///
    /// The token comes without waiting (see `TokenSource`), so that the time needs no watch before the transfer.
    func make(within remaining: Duration) async -> Outcome {
        let token: BearerToken
        do {
            token = try await parts.tokens.token(for: call.app)
        } catch {
            return Outcome(AttemptFailure(unsent: error))
        }
        if let finding = parts.unauthorized.finding(for: call.app, in: environment, keyID: token.keyID) {
            return Outcome(AttemptFailure(unsent: finding.error(apple: nil)))
        }
        let permit: CircuitBreaker.Permit
        switch parts.breakers.admit(environment) {
        case .admitted(let given): permit = given
        case .refused(let duration): return Outcome(.circuitIsOpen(environment, for: duration))
        }
        let budgeted = BudgetedCall(
            app: call.app.slug, endpoint: request.operation.name, environment: environment, caller: call.caller,
            priority: call.priority)
        if case .refused(let refusal) = parts.budget.admit(budgeted) {
            parts.breakers.record(.nothing, of: permit, in: environment)
            return Outcome(.refused(refusal, budgeted))
        }
        let outcome = await send(token, within: remaining, permit)
        if case .failure(let failure) = outcome.result, failure.httpStatus == 429 {
            parts.budget.appleRefused(budgeted, for: failure.notBefore ?? .seconds(1))
        }
        return outcome
    }

    private func send(
        _ token: BearerToken, within remaining: Duration, _ permit: CircuitBreaker.Permit
    ) async -> Outcome {
        let startedAt = parts.clock.now()
        let start = parts.clock.monotonicNow()
        let mapping = AppleFailureMapping(now: parts.clock.now)
        let result: Result<CurlResponse, AttemptFailure>
        var answer: CurlResponse?
        do throws(CurlError) {
            let response = try await parts.transport.send(request, token, environment, within: remaining)
            parts.breakers.record(response.status >= 500 ? .failed : .answered, of: permit, in: environment)
            if response.status != 401 {
                answer = response
                parts.unauthorized.noteAnswer(response.status, keyID: token.keyID, app: call.app, in: environment)
            }
            let isSuccess = (200..<300).contains(response.status)
            result =
                isSuccess
                ? .success(response)
                : .failure(mapping.failure(response, to: request.operation, in: environment))
        } catch {
            parts.breakers.record(Self.verdict(error, within: remaining), of: permit, in: environment)
            result = .failure(mapping.failure(error))
        }
        var outcome = Outcome(result)
        outcome.token = token
        outcome.answer = answer
        outcome.record = record(result, startedAt: startedAt, duration: start.duration(to: parts.clock.monotonicNow()))
        return outcome
    }

    /// What a transfer without an answer says of Apple.
    private static func verdict(_ error: CurlError, within remaining: Duration) -> CircuitBreaker.Verdict {
        switch error.kind {
        case .timeout: remaining >= fairTimeout ? .failed : .nothing
        case .nameResolution, .connectFailed, .tls, .connectionLost, .protocolError, .other: .failed
        case .responseTooLarge: .answered
        case .invalidRequest, .cancelled, .shutDown: .nothing
        }
    }

    private func record(
        _ result: Result<CurlResponse, AttemptFailure>, startedAt: Date, duration: Duration
    ) -> DeliveryAttempt {
        var status: Int?
        var failure: AttemptFailure?
        switch result {
        case .success(let response): status = response.status
        case .failure(let error):
            status = error.httpStatus
            failure = error
        }
        parts.meter.count(
            request.operation.name, app: call.app.slug, environment: environment, status: status, duration: duration)
        return DeliveryAttempt(
            startedAt: startedAt, duration: duration, httpStatus: status, errorCode: failure?.error.apple?.errorCode,
            failure: failure.map { $0.error.apple?.errorName ?? $0.error.reason.rawValue })
    }
}

/// What every call to Apple is made with.
struct UpstreamParts: Sendable {
    let transport: AppleTransport
    let tokens: any TokenSource
    let budget: any CallBudget
    let breakers: CircuitBreakers
    let unauthorized: UnauthorizedDiagnosis
    let clock: ServiceClock
    let meter: UpstreamMeter
}

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

    /// The failure of a call whose token Apple refuses, told by what was found out.
    init(_ finding: UnauthorizedFinding, of failure: AttemptFailure) {
        self = failure
        isRetryable = false
        error = finding.error(apple: failure.error.apple)
    }
}
