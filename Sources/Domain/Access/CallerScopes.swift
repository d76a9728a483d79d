/// An internal service that uses Purser.
package struct Caller: Sendable, Hashable {
    package let name: String
    /// What it may do, by app slug.
    package let scopes: [String: Set<Scope>]

    package init(name: String, scopes: [String: Set<Scope>]) {
        self.name = name
        self.scopes = scopes
    }

    /// Checks that the caller holds a scope for an app.
    ///
    /// - Throws: `missingScope`, naming the scope.
    package func require(_ scope: Scope, for app: String) throws(ServiceError) {
        guard scopes[app]?.contains(scope) == true else {
            throw ServiceError(
                .missingScope,
                "Caller `\(name)` lacks the scope `\(scope.rawValue)` for app `\(app)`; add it in the configuration.")
        }
    }
}

/// What a caller may do with an app.
package enum Scope: String, Sendable, Hashable, CaseIterable {
    case consumptionWrite = "consumption:write"
    /// Deliveries, and the cases that they answer.
    case consumptionRead = "consumption:read"
    case consentRead = "consent:read"
    case consentWrite = "consent:write"
    /// Erase everything that is known of a user.
    case usersErase = "users:erase"
    case refundsRead = "refunds:read"
    case transactionsRead = "transactions:read"
    case linksWrite = "links:write"
    /// Set App Account Token, Finish Transaction.
    case transactionsWrite = "transactions:write"
    /// Extend renewal dates, and see how far a mass extension is.
    case extensionsWrite = "extensions:write"
    /// What Apple sent, and its history of it.
    case notificationsRead = "notifications:read"
    /// Notifications, cases and deliveries as they come and change.
    case eventsRead = "events:read"
    /// Forward a notification that came in elsewhere.
    case notificationsWrite = "notifications:write"
    case notificationsTest = "notifications:test"
    case limitsRead = "limits:read"
    /// Retention Messaging, through the Apple-compatible doors only.
    case retentionMessagingManage = "retentionMessaging:manage"
    /// Advanced Commerce server calls, through the Apple-compatible doors only.
    case advancedCommerceManage = "advancedCommerce:manage"
}
