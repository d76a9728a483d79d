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

    package func sendConsumption(
        _ answer: ConsumptionAnswer, transactionID: String, _ call: UpstreamCall
    ) async -> ConsumptionOutcome {
        let request = UpstreamRequest(consumption: answer, transactionID: transactionID)
        guard let environment = call.environment else {
            return ConsumptionOutcome(
                attempts: [],
                failure: ServiceError(.internalError, "Internal error.", cause: "consumption without an environment"),
                mayHaveReachedApple: false)
        }
        let outcome = await caller.call(request, call, in: environment)
        switch outcome.result {
        case .success:
            return ConsumptionOutcome(attempts: outcome.attempts, failure: nil, mayHaveReachedApple: true)
        case .failure(let failure):
            return ConsumptionOutcome(
                attempts: outcome.attempts, failure: failure.error, mayHaveReachedApple: outcome.mayHaveReachedApple)
        }
    }
}
