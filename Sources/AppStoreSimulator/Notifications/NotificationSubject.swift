package import AppStoreAPI

/// The purchase or subscription that a notification is about; all nil in a test notification.
package struct NotificationSubject: Sendable {
    package var transaction: TransactionPayload?
    package var renewalInfo: RenewalInfoPayload?
    package var status: SubscriptionStatus?
    package var consumptionRequestReason: ConsumptionRequestReason?

    package init(
        transaction: TransactionPayload? = nil, renewalInfo: RenewalInfoPayload? = nil,
        status: SubscriptionStatus? = nil, consumptionRequestReason: ConsumptionRequestReason? = nil
    ) {
        self.transaction = transaction
        self.renewalInfo = renewalInfo
        self.status = status
        self.consumptionRequestReason = consumptionRequestReason
    }
}
