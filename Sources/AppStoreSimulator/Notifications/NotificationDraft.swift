package import AppStoreAPI

/// What a notification says, before it is signed; data are as they were when it happened.
package struct NotificationDraft: Sendable {
    /// What a notification is about.
    package enum Subject: Sendable {
        case data(NotifiedPurchase)
        case summary(Summary)
        case externalPurchaseToken(ExternalPurchaseToken)
        /// The app transaction of the customer who took a consent back.
        case appData(AppTransactionPayload)
    }

    package let bundleID: String
    package let environment: SimulatedEnvironment
    package var type: NotificationTypeV2
    package var subtype: Subtype?
    package var subject: Subject
    /// Who it is about, for Get Notification History; nil for notifications about an app as a whole.
    var customer: Customer?
    /// What is wrong about the notification's own signature, certificates or payload.
    package var tampering: Tampering?
    /// What is wrong about the signed transaction inside.
    package var transactionTampering: Tampering?

    package init(
        _ type: NotificationTypeV2, _ subtype: Subtype? = nil, of bundleID: String,
        in environment: SimulatedEnvironment, about subject: Subject
    ) {
        self.type = type
        self.subtype = subtype
        self.bundleID = bundleID
        self.environment = environment
        self.subject = subject
    }

    /// The transaction that it is about, if it is about one.
    package var transactionID: String? {
        if case .data(let data) = subject { data.transaction?.transactionId } else { nil }
    }
}

/// The purchase or subscription that a notification is about; all nil in a test notification.
package struct NotifiedPurchase: Sendable {
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

/// Which subtypes go with which type of notification.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
enum NotificationSubtypes {
    private static let table: [NotificationTypeV2: Set<Subtype>] = [
        .subscribed: [.initialBuy, .resubscribe],
        .didChangeRenewalPref: [.upgrade, .downgrade],
        .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled],
        .offerRedeemed: [.initialBuy, .resubscribe, .upgrade, .downgrade],
        .didRenew: [.billingRecovery],
        .expired: [.voluntary, .billingRetry, .priceIncrease, .productNotForSale],
        .didFailToRenew: [.gracePeriod],
        .priceIncrease: [.pending, .accepted],
        .priceChange: [.pending, .accepted],
        .renewalExtension: [.summary, .failure],
        .externalPurchaseToken: [.unreported],
    ]

    /// Whether Apple knows the type, and the subtype with it.
    static func areKnown(_ type: NotificationTypeV2, _ subtype: Subtype?) -> Bool {
        guard type.isKnown else { return false }
        return subtype.map { table[type]?.contains($0) ?? false } ?? true
    }
}
