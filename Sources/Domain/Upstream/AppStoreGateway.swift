/// The App Store Server API, as our rules see it: tokens, retries, environments and signatures are its own business.
///
/// Every method throws `ServiceError` with one of the reasons `appleRejected`, `appleRateLimited`, `budgetExhausted`,
/// `appleUnauthorized`, `noProductionRelease`, `appleUnavailable`, `appleAnswerInvalid`, `environmentNotSupported`,
/// `environmentNotAllowed`, `deadlineExceeded` or `keyUnavailable`.
package protocol AppStoreGateway: Sendable {
    /// Get Transaction Info.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info
    func transaction(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> Transaction

    /// One page of Get Transaction History (version 2).
    ///
    /// `identifier`: a transaction id, original transaction id or app transaction id.
    ///
    /// - Returns: the page.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
    func historyPage(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage

    /// One page of Get Refund History (version 2).
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-refund-history
    func refundPage(
        _ identifier: String, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage

    /// Send Consumption Information, version 2 or 1 as the answer says. The call's environment must be given.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
    func sendConsumption(
        _ answer: ConsumptionAnswer, transactionID: String, _ call: UpstreamCall
    ) async -> ConsumptionOutcome
}

extension AppStoreGateway {
    /// All pages of Get Transaction History, in Apple's order.
    package func history(
        _ identifier: String, filter: HistoryFilter, from revision: String? = nil, _ call: UpstreamCall
    ) -> TransactionPages {
        TransactionPages(from: revision, call) { revision, call throws(ServiceError) in
            try await historyPage(identifier, filter: filter, revision: revision, call)
        }
    }

    /// All pages of Get Refund History, in Apple's order.
    package func refunds(
        _ identifier: String, from revision: String? = nil, _ call: UpstreamCall
    ) -> TransactionPages {
        TransactionPages(from: revision, call) { revision, call throws(ServiceError) in
            try await refundPage(identifier, revision: revision, call)
        }
    }
}

/// What became of one Send Consumption Information call, its attempts included.
package struct ConsumptionOutcome: Sendable {
    /// Every attempt, in order.
    package let attempts: [DeliveryAttempt]
    /// Nil when Apple accepted.
    package let failure: ServiceError?
    /// Whether Apple may have received the answer, even though the call failed.
    package let mayHaveReachedApple: Bool

    package init(attempts: [DeliveryAttempt], failure: ServiceError?, mayHaveReachedApple: Bool) {
        self.attempts = attempts
        self.failure = failure
        self.mayHaveReachedApple = mayHaveReachedApple
    }
}
