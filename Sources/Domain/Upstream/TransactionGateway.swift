/// The calls about single transactions and orders, and the deprecated lists.
///
/// Methods throw what those of `AppStoreGateway` throw, and `outcomeUnknown` when a call that must not be repeated may
/// have reached Apple without our learning what became of it.
package protocol TransactionGateway: Sendable {
    /// Get App Transaction Info: the signed app transaction, decoded.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-app-transaction-info
    func appTransaction(_ identifier: String, _ call: UpstreamCall) async throws(ServiceError) -> AppTransaction

    /// Look Up Order ID; production only.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/look-up-order-id
    func order(_ orderID: String, _ call: UpstreamCall) async throws(ServiceError) -> OrderLookup

    /// Set App Account Token.
    ///
    /// - Parameters:
    ///   - token: a UUID.
    ///   - originalTransactionID: Apple takes no other transaction id.
    ///   - call: for whom and until when.
    /// - Returns: where the transaction was found.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token
    func setAppAccountToken(
        _ token: String, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment

    /// Finish Transaction.
    ///
    /// - Returns: where the transaction was found.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/finish-transaction
    func finish(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> AppStoreEnvironment

    /// One page of Get Transaction History V1 (deprecated).
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history-v1
    func historyPageV1(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage

    /// Get Refund History V1 (deprecated): the 50 latest refunds, unpaged.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-refund-history-v1
    func refundsV1(
        originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage
}

/// A verified app transaction, with the environment it was found in.
package struct AppTransaction: Sendable {
    package let data: VerifiedData
    package let appTransactionID: String?
    package let environment: AppStoreEnvironment

    package init(data: VerifiedData, appTransactionID: String?, environment: AppStoreEnvironment) {
        self.data = data
        self.appTransactionID = appTransactionID
        self.environment = environment
    }
}

/// What Apple knows of an order id.
package struct OrderLookup: Sendable {
    /// Apple's `status`: 0 for an order of this app, 1 for an order id that is not.
    package let status: Int64
    /// The transactions of the order; empty when there are none.
    package let transactions: [Transaction]
    package let environment: AppStoreEnvironment

    /// Whether the order is one of this app's.
    package var isValid: Bool { status == 0 }

    package init(status: Int64, transactions: [Transaction], environment: AppStoreEnvironment) {
        self.status = status
        self.transactions = transactions
        self.environment = environment
    }
}
