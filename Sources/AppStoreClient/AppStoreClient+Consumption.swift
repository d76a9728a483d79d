import AppStoreAPI
package import Domain

// What is sent to Apple about a refund request, once for each attempt: repeating is the delivery's business.

extension AppStoreClient {
    package func consumptionBody(_ answer: ConsumptionAnswer) -> [UInt8] {
        switch answer {
        case .v2(let fields): ConsumptionRequest(fields).serialized()
        case .v1(let fields): ConsumptionRequestV1(fields).serialized()
        }
    }

    package func sendConsumption(_ message: ConsumptionMessage, _ call: UpstreamCall) async -> ConsumptionOutcome {
        guard let environment = call.environment else {
            let error = ServiceError(.internalError, "Internal error.", cause: "consumption without an environment")
            return ConsumptionOutcome(
                attempts: [], failure: .init(error, isRetryable: false), mayHaveReachedApple: false)
        }
        let outcome = await singleAttemptCaller.call(UpstreamRequest(message), call, in: environment)
        switch outcome.result {
        case .success:
            return ConsumptionOutcome(attempts: outcome.attempts, failure: nil, mayHaveReachedApple: true)
        case .failure(let failure):
            return ConsumptionOutcome(
                attempts: outcome.attempts, failure: ConsumptionOutcome.Failure(failure),
                mayHaveReachedApple: outcome.mayHaveReachedApple)
        }
    }
}

extension ConsumptionOutcome.Failure {
    /// What a failed attempt means for the next one: only what Apple refused for good is not worth another.
    fileprivate init(_ failure: AttemptFailure) {
        let isLaneWide: Bool
        switch failure.error.reason {
        // What one caller may not send, another may.
        case .budgetExhausted: isLaneWide = !failure.isOnCallersAccount
        case .appleRateLimited, .appleUnauthorized, .noProductionRelease, .keyUnavailable: isLaneWide = true
        // An open breaker says how long it stays so; nothing was sent then.
        case .appleUnavailable: isLaneWide = failure.httpStatus == nil && failure.error.retryAfter != nil
        default: isLaneWide = false
        }
        self.init(
            failure.error, isRetryable: failure.isRetryable || failure.error.reason != .appleRejected,
            notBefore: failure.notBefore ?? failure.error.retryAfter, isLaneWide: isLaneWide,
            isElsewhere: failure.isElsewhere)
    }
}
