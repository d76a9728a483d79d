import AppStoreAPI

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
