// The calls that the product makes by itself, each with its parameters by name. The others are only passed on, as an
// `Operation` with what its caller gave.

extension Endpoint {
    /// Get Transaction Info, by transaction id or original transaction id.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info
    package static func getTransactionInfo(transactionId: String) -> Endpoint {
        Endpoint(.getTransactionInfo, [transactionId])
    }

    /// One page of Get Transaction History, version 2.
    ///
    /// Any transaction id, original transaction id or app transaction id of the customer will do.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
    package static func getTransactionHistory(transactionId: String, query: HistoryQuery = HistoryQuery()) -> Endpoint {
        Endpoint(.getTransactionHistory, [transactionId], query: query.parameters)
    }

    /// One page of Get Transaction History, version 1.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history-v1
    package static func getTransactionHistoryV1(
        transactionId: String, query: HistoryQuery = HistoryQuery()
    ) -> Endpoint {
        Endpoint(.getTransactionHistoryV1, [transactionId], query: query.parameters)
    }

    /// One page of Get Refund History, version 2: the first, or the one that follows a revision.
    ///
    /// Any transaction id, original transaction id or app transaction id of the customer will do.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-refund-history
    package static func getRefundHistory(transactionId: String, revision: String? = nil) -> Endpoint {
        Endpoint(
            .getRefundHistory, [transactionId], query: revision.map { [QueryParameter("revision", $0)] } ?? [])
    }

    /// Get Refund History, version 1: the 50 latest refunds, unpaged.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-refund-history-v1
    package static func getRefundHistoryV1(originalTransactionId: String) -> Endpoint {
        Endpoint(.getRefundHistoryV1, [originalTransactionId])
    }

    /// Get All Subscription Statuses; without statuses, all of them.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-all-subscription-statuses
    package static func getAllSubscriptionStatuses(transactionId: String, statuses: [Int32] = []) -> Endpoint {
        Endpoint(
            .getAllSubscriptionStatuses, [transactionId], query: statuses.map { QueryParameter("status", String($0)) })
    }

    /// Get App Transaction Info.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-app-transaction-info
    package static func getAppTransactionInfo(transactionId: String) -> Endpoint {
        Endpoint(.getAppTransactionInfo, [transactionId])
    }

    /// Set App Account Token.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token
    package static func setAppAccountToken(originalTransactionId: String) -> Endpoint {
        Endpoint(.setAppAccountToken, [originalTransactionId])
    }

    /// Finish Transaction.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/finish-transaction
    package static func finishTransaction(transactionId: String) -> Endpoint {
        Endpoint(.finishTransaction, [transactionId])
    }

    /// Look Up Order ID; production only.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/look-up-order-id
    package static func lookUpOrderID(orderId: String) -> Endpoint {
        Endpoint(.lookUpOrderID, [orderId])
    }

    /// Send Consumption Information; its body is a ``ConsumptionRequest``.
    ///
    /// The id is the transaction id of the notification that asked for it.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
    package static func sendConsumptionInformation(transactionId: String) -> Endpoint {
        Endpoint(.sendConsumptionInformation, [transactionId])
    }

    /// Send Consumption Information V1; its body is a ``ConsumptionRequestV1``.
    ///
    /// The id is the transaction id of the notification that asked for it.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information-v1
    package static func sendConsumptionInformationV1(transactionId: String) -> Endpoint {
        Endpoint(.sendConsumptionInformationV1, [transactionId])
    }

    /// Extend a Subscription Renewal Date.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
    package static func extendSubscriptionRenewalDate(originalTransactionId: String) -> Endpoint {
        Endpoint(.extendSubscriptionRenewalDate, [originalTransactionId])
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers
    package static func extendSubscriptionRenewalDatesForAllActiveSubscribers() -> Endpoint {
        Endpoint(.extendSubscriptionRenewalDatesForAllActiveSubscribers)
    }

    /// Get Status of Subscription Renewal Date Extensions.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-status-of-subscription-renewal-date-extensions
    package static func getStatusOfSubscriptionRenewalDateExtensions(
        productId: String, requestIdentifier: String
    ) -> Endpoint {
        Endpoint(.getStatusOfSubscriptionRenewalDateExtensions, [productId, requestIdentifier])
    }

    /// One page of Get Notification History; the body stays the same from page to page.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-notification-history
    package static func getNotificationHistory(paginationToken: String? = nil) -> Endpoint {
        Endpoint(
            .getNotificationHistory, query: paginationToken.map { [QueryParameter("paginationToken", $0)] } ?? [])
    }

    /// Request a Test Notification.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/request-a-test-notification
    package static func requestTestNotification() -> Endpoint { Endpoint(.requestTestNotification) }

    /// Get Test Notification Status.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-test-notification-status
    package static func getTestNotificationStatus(testNotificationToken: String) -> Endpoint {
        Endpoint(.getTestNotificationStatus, [testNotificationToken])
    }
}
