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
