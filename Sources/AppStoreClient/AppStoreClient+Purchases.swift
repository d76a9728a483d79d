import AppStoreAPI
package import Domain

// Transactions, their history and refunds, consumption answers, app transactions, orders, account tokens.

extension AppStoreClient: AppStoreGateway {
    package func transaction(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> Transaction {
        let request = UpstreamRequest(.getTransactionInfo(transactionId: transactionID))
        let (response, environment) = try await find(transactionID, request, call)
        let info: TransactionInfoResponse = try parse(response)
        let transaction = try decoder.transaction(
            try required(info.signedTransactionInfo, "signedTransactionInfo"),
            from: .init(app: call.app, environment: environment))
        // Signed, but whoever stands between us and Apple may have mixed up two answers.
        guard transaction.transactionID == transactionID else {
            throw ServiceError(
                .appleAnswerInvalid, "Apple's answer is about another transaction than was asked for.",
                cause: "transactionId differs from the one in the request")
        }
        answers.note(AppleAnswer(app: call.app.slug, transaction: transaction))
        return transaction
    }

    package func historyPage(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let query = HistoryQuery(filter, revision: revision)
        return try await page(of: identifier, .getTransactionHistory(transactionId: identifier, query: query), call)
    }

    package func refundPage(
        _ identifier: String, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        try await page(of: identifier, .getRefundHistory(transactionId: identifier, revision: revision), call)
    }

    /// One page of either version of Get Transaction History or Get Refund History, whose answers hold the same fields or
    /// fewer.
    private func page(
        of identifier: String, _ endpoint: Endpoint, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let (response, environment) = try await find(identifier, UpstreamRequest(endpoint), call)
        let page: HistoryResponse = try parse(response)
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

    /// Sends it once: repeating is the delivery's business.
    package func sendConsumption(_ message: ConsumptionMessage, _ call: UpstreamCall) async -> CallResult<Void> {
        guard let environment = call.environment else {
            let error = ServiceError(.internalError, "Internal error.", cause: "consumption without an environment")
            return CallResult(.failure(CallFailure(error)))
        }
        return await Call(self, UpstreamRequest(message), call, in: environment, retries: .never).result().withoutAnswer
    }
}

extension AppStoreClient: TransactionGateway {
    package func appTransaction(
        _ identifier: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppTransaction {
        let request = UpstreamRequest(.getAppTransactionInfo(transactionId: identifier))
        let (response, environment) = try await find(identifier, request, call)
        let info: AppTransactionInfoResponse = try parse(response)
        return try decoder.appTransaction(
            try required(info.signedAppTransactionInfo, "signedAppTransactionInfo"),
            from: .init(app: call.app, environment: environment))
    }

    package func order(_ orderID: String, _ call: UpstreamCall) async throws(ServiceError) -> OrderLookup {
        guard call.environment != .sandbox, call.app.environments.contains(.production) else {
            throw ServiceError(.environmentNotAllowed, "Apple looks up order ids in Production only.")
        }
        let request = UpstreamRequest(.lookUpOrderID(orderId: orderID))
        let (response, environment) = try await ask(request, call.in(.production))
        let lookup: OrderLookupResponse = try parse(response)
        return OrderLookup(
            status: Int64(try required(lookup.status, "status").rawValue),
            transactions: try decoder.transactions(
                lookup.signedTransactions ?? [], from: .init(app: call.app, environment: environment)),
            environment: environment)
    }

    package func setAppAccountToken(
        _ token: String, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        let body = UpdateAppAccountTokenRequest { $0.appAccountToken = token }
        let request = UpstreamRequest(
            .setAppAccountToken(originalTransactionId: originalTransactionID), body: body.serialized())
        return try await find(originalTransactionID, request, call).1
    }

    package func finish(
        _ transactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        try await find(transactionID, UpstreamRequest(.finishTransaction(transactionId: transactionID)), call).1
    }

    package func historyPageV1(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let query = HistoryQuery(filter, revision: revision)
        return try await page(of: identifier, .getTransactionHistoryV1(transactionId: identifier, query: query), call)
    }

    package func refundsV1(
        originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let page = try await page(
            of: originalTransactionID, .getRefundHistoryV1(originalTransactionId: originalTransactionID), call)
        // Whatever the answer says, there is nothing that continues it.
        return TransactionPage(
            transactions: page.transactions, revision: nil, hasMore: false, environment: page.environment)
    }
}
