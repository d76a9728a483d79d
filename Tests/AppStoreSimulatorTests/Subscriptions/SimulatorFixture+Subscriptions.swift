import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

extension SimulatorFixture {
    static let day: Int64 = 86_400_000

    /// An account that subscribes for 30 days to a product, `gold` unless changed.
    func subscribe(
        in environment: SimulatedEnvironment = .sandbox, family: String? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) throws -> TransactionPayload {
        try buy(by: state.createAccount(in: environment, family: family).id) { purchase in
            purchase.productId = "gold"
            purchase.type = .autoRenewableSubscription
            change(&purchase)
        }
    }

    /// Shares a subscription with another account of the family.
    func share(
        _ transactionID: String, in environment: SimulatedEnvironment = .sandbox, family: String
    ) throws -> TransactionPayload {
        try state.share(transactionID, with: state.createAccount(in: environment, family: family).id)
    }

    /// The only subscription that Get All Subscription Statuses shows.
    func subscription(
        _ identifier: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (item: LastTransactionsItem, transaction: TransactionPayload, renewalInfo: RenewalInfoPayload) {
        let answer = try await answer(
            StatusResponse.self, .getAllSubscriptionStatuses(transactionId: identifier),
            sourceLocation: sourceLocation)
        let item = try #require(answer.data?.first?.lastTransactions?.first, sourceLocation: sourceLocation)
        return (
            item, try verified(item.signedTransactionInfo),
            try RenewalInfoPayload(parsing: verifiedPayload(item.signedRenewalInfo))
        )
    }
}
