/// All of the App Store Server API that our rules use.
package typealias AppStoreServerAPI = AppStoreGateway & TransactionGateway & SubscriptionGateway & NotificationGateway

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

    /// What Apple gets for an answer: the body of its request in JSON, the same bytes for the same answer.
    func consumptionBody(_ answer: ConsumptionAnswer) -> [UInt8]

    /// Send Consumption Information: one attempt, and a second one only with a fresh token. The call's environment must be
    /// given.
    ///
    /// Ends soon after its task is cancelled; no byte leaves after it has returned.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
    func sendConsumption(_ message: ConsumptionMessage, _ call: UpstreamCall) async -> CallResult<Void>
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

/// A consumption answer as Apple gets it.
package struct ConsumptionMessage: Sendable, Equatable {
    package let version: DeliveryVersion
    package let transactionID: String
    package let body: [UInt8]

    package init(version: DeliveryVersion, transactionID: String, body: [UInt8]) {
        self.version = version
        self.transactionID = transactionID
        self.body = body
    }
}

/// For whom, how urgently and until when Apple is asked.
package struct UpstreamCall: Sendable {
    package let app: App
    /// The environment to ask; nil lets the gateway find it out.
    package let environment: AppStoreEnvironment?
    /// No attempt starts and no wait lasts beyond this.
    package let deadline: ContinuousClock.Instant
    /// The name of the caller on whose behalf Apple is asked; empty for our own work.
    package let caller: String
    package let priority: CallPriority

    package init(
        app: App, environment: AppStoreEnvironment?, deadline: ContinuousClock.Instant, caller: String = "",
        priority: CallPriority = .interactive
    ) {
        self.app = app
        self.environment = environment
        self.deadline = deadline
        self.caller = caller
        self.priority = priority
    }

    /// The same call in a given environment.
    package func `in`(_ environment: AppStoreEnvironment) -> UpstreamCall {
        UpstreamCall(app: app, environment: environment, deadline: deadline, caller: caller, priority: priority)
    }
}

/// Data that Apple signed and that we have verified, of whatever kind.
package struct VerifiedData: Sendable {
    /// The decoded payload byte for byte: a JSON object, well-formed.
    package let payload: [UInt8]
    /// The signed form, as Apple sent it (compact JWS).
    package let signed: String

    package init(payload: [UInt8], signed: String) {
        self.payload = payload
        self.signed = signed
    }
}
