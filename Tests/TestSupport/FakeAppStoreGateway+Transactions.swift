package import Domain
import Synchronization

extension FakeAppStoreGateway: TransactionGateway {
    /// Lets an order id stand for these transactions.
    package func addOrder(_ orderID: String, _ transactionIDs: [String]) {
        state.withLock { $0.orders[orderID] = transactionIDs }
    }

    package func appTransaction(_ identifier: String, _ call: UpstreamCall) async throws(ServiceError) -> AppTransaction
    {
        let account = try await account(of: identifier, .appTransaction(identifier), call)
        let id = account.first?.appTransactionID
        return AppTransaction(
            data: VerifiedData(payload: Array(#"{"appTransactionId":"\#(id ?? "")"}"#.utf8), signed: "x.y.z"),
            appTransactionID: id, environment: account.first?.environment ?? .production)
    }

    package func order(_ orderID: String, _ call: UpstreamCall) async throws(ServiceError) -> OrderLookup {
        try await ask(.order(orderID), about: orderID, call)
        let found = state.withLock { state in
            state.orders[orderID].map { ids in
                state.accounts.joined().filter { ids.contains($0.transactionID) }
            }
        }
        return OrderLookup(
            status: found == nil ? 1 : 0, transactions: found ?? [], environment: call.environment ?? .production)
    }

    package func setAppAccountToken(
        _ token: String, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        let question = Question.setAppAccountToken(token, originalTransactionID)
        return try await account(of: originalTransactionID, question, call).first?.environment ?? .production
    }

    package func finish(
        _ transactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment {
        try await account(of: transactionID, .finish(transactionID), call).first?.environment ?? .production
    }

    package func historyPageV1(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        page(try await account(of: identifier, .historyV1(identifier, revision: revision), call), revision)
    }

    package func refundsV1(
        originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let account = try await account(of: originalTransactionID, .refundsV1(originalTransactionID), call)
        return TransactionPage(
            transactions: account.filter { $0.revocationDate != nil }, revision: nil, hasMore: false,
            environment: account.first?.environment ?? .production)
    }
}
