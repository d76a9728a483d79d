import AppStoreAPI
package import Domain

// Transactions, their history and refunds, app transactions, orders, account tokens.

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
        return try await historyPage(
            identifier, .getTransactionHistoryV1(transactionId: identifier, query: query), call)
    }

    package func refundsV1(
        originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let request = UpstreamRequest(.getRefundHistoryV1(originalTransactionId: originalTransactionID))
        let (response, environment) = try await find(originalTransactionID, request, call)
        let refunds: RefundLookupResponse = try parse(response)
        return TransactionPage(
            transactions: try decoder.transactions(
                refunds.signedTransactions ?? [], from: .init(app: call.app, environment: environment)),
            revision: nil, hasMore: false, environment: environment)
    }
}
