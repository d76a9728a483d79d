/// What a caller may do with an app.
package enum Scope: String, Sendable, Hashable, CaseIterable {
    case consumptionWrite = "consumption:write"
    case refundsRead = "refunds:read"
    case transactionsRead = "transactions:read"
    case linksWrite = "links:write"
    /// Set App Account Token, Finish Transaction.
    case transactionsWrite = "transactions:write"
    /// Extend renewal dates, and see how far a mass extension is.
    case extensionsWrite = "extensions:write"
    case notificationsRead = "notifications:read"
    case notificationsTest = "notifications:test"
    case limitsRead = "limits:read"
    /// Retention Messaging, through the Apple-compatible doors only.
    case retentionMessagingManage = "retentionMessaging:manage"
    /// Advanced Commerce server calls, through the Apple-compatible doors only.
    case advancedCommerceManage = "advancedCommerce:manage"
}
