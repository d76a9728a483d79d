import AppStoreAPI
package import Domain

extension AppStoreClient: AppStoreGateway {
    package func transaction(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> Transaction {
        let request = UpstreamRequest(.getTransactionInfo(transactionId: transactionID))
        let (response, environment) = try await find(transactionID, request, call)
        let info: TransactionInfoResponse = try parse(response)
        return try decoder.transaction(
            try required(info.signedTransactionInfo, "signedTransactionInfo"),
            from: .init(app: call.app, environment: environment))
    }

    package func historyPage(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let query = HistoryQuery(filter, revision: revision)
        return try await historyPage(identifier, .getTransactionHistory(transactionId: identifier, query: query), call)
    }

    /// One page of either version of Get Transaction History.
    func historyPage(
        _ identifier: String, _ endpoint: Endpoint, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let (response, environment) = try await find(identifier, UpstreamRequest(endpoint), call)
        let page: HistoryResponse = try parse(response)
        return TransactionPage(
            transactions: try decoder.transactions(
                page.signedTransactions ?? [], from: .init(app: call.app, environment: environment)),
            revision: page.revision, hasMore: page.hasMore ?? false, environment: environment)
    }

    package func refundPage(
        _ identifier: String, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let request = UpstreamRequest(.getRefundHistory(transactionId: identifier, revision: revision))
        let (response, environment) = try await find(identifier, request, call)
        let page: RefundHistoryResponse = try parse(response)
        return TransactionPage(
            transactions: try decoder.transactions(
                page.signedTransactions ?? [], from: .init(app: call.app, environment: environment)),
            revision: page.revision, hasMore: page.hasMore ?? false, environment: environment)
    }

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
