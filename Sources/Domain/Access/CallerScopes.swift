/// An internal service that uses Purser, or an operator at the operators' socket.
package struct Caller: Sendable, Hashable {
    package let name: String
    /// What it may do, by app slug; of an operator nothing, who may do everything.
    package let scopes: [String: Set<Scope>]
    private let isOperator: Bool

    package init(name: String, scopes: [String: Set<Scope>]) {
        self.name = name
        self.scopes = scopes
        isOperator = false
    }

    /// An operator: by a name that no configured caller has, as it is no slug.
    package init(operator actor: Actor) {
        name = actor.name
        scopes = [:]
        isOperator = true
    }

    /// Whether the caller holds a scope for an app, itself or by one that implies it.
    package func holds(_ scope: Scope, for app: String) -> Bool {
        if isOperator { return true }
        guard let granted = scopes[app] else { return false }
        return granted.contains(scope) || scope.impliedBy.map(granted.contains) == true
    }

    /// Checks that the caller holds a scope for an app.
    ///
    /// - Throws: `missingScope`, naming the scope.
    package func require(_ scope: Scope, for app: String) throws(ServiceError) {
        guard !holds(scope, for: app) else { return }
        throw missing([scope], for: app)
    }

    /// Checks that the caller holds a scope for some app: the request itself will tell which one it is about.
    ///
    /// - Throws: `missingScope`, naming the scope.
    package func requireAnywhere(_ scope: Scope) throws(ServiceError) {
        guard !holdsAnywhere(scope) else { return }
        throw ServiceError(
            .missingScope,
            "Caller `\(name)` lacks the scope `\(scope.rawValue)` for every app; the platform team grants it.")
    }

    /// Whether the caller holds a scope for at least one app.
    package func holdsAnywhere(_ scope: Scope) -> Bool {
        isOperator || scopes.keys.contains { holds(scope, for: $0) }
    }

    /// Whether the caller has a scope for each of these apps, so that it can list all of them.
    package func seesAll(_ apps: [App]) -> Bool {
        isOperator || apps.allSatisfy { scopes[$0.slug]?.isEmpty == false }
    }

    /// Checks that the caller holds one of several scopes for an app.
    ///
    /// - Throws: `missingScope`, naming all of them.
    package func require(anyOf alternatives: [Scope], for app: String) throws(ServiceError) {
        guard !alternatives.contains(where: { holds($0, for: app) }) else { return }
        throw missing(alternatives, for: app)
    }

    /// The error of a caller that holds none of some scopes for an app.
    ///
    /// - Parameters:
    ///   - scopes: the scopes of which it needs one.
    ///   - app: the slug as the caller wrote it; it may be no app's.
    ///   - cause: for the log.
    /// - Returns: the error.
    package func missing(_ scopes: [Scope], for app: String, cause: String? = nil) -> ServiceError {
        // Only a name that an app can have is repeated.
        let app = App.isSlug(app) ? "app `\(app)`" : "this app"
        let names = scopes.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        return ServiceError(
            .missingScope,
            scopes.count == 1
                ? "Caller `\(name)` lacks the scope \(names) for \(app); the platform team grants it."
                : "Caller `\(name)` has none of the scopes \(names) for \(app); the platform team grants one.",
            cause: cause)
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
    /// Be given everything that is kept of a user.
    case usersExport = "users:export"
    case refundsRead = "refunds:read"
    case transactionsRead = "transactions:read"
    case linksRead = "links:read"
    case linksWrite = "links:write"
    /// Upload receipts; what they prove is linked to the user who is named with them.
    case receiptsWrite = "receipts:write"
    case receiptsRead = "receipts:read"
    /// Set App Account Token, Finish Transaction.
    case transactionsWrite = "transactions:write"
    /// Extend renewal dates, and see how far a mass extension is.
    case extensionsWrite = "extensions:write"
    /// What Apple sent, and its history of it.
    case notificationsRead = "notifications:read"
    /// Notifications, cases and deliveries as they come and change.
    case eventsRead = "events:read"
    /// Have an app's notifications or events posted to a URL.
    case callbacksManage = "callbacks:manage"
    /// Forward a notification that came in elsewhere.
    case notificationsWrite = "notifications:write"
    case notificationsTest = "notifications:test"
    /// Report the use of purchases.
    case usageWrite = "usage:write"
    case usageRead = "usage:read"
    /// See how an app answers refund requests by itself, and try a policy on past ones.
    case policiesRead = "policies:read"
    case limitsRead = "limits:read"
    /// Have signed what an app hands to StoreKit.
    case signaturesCreate = "signatures:create"
    /// Be given tokens for Apple, and call Apple past everything that is decided here.
    case tokensMint = "tokens:mint"
    /// Retention Messaging, through the Apple-compatible doors only.
    case retentionMessagingManage = "retentionMessaging:manage"
    /// Advanced Commerce server calls, through the Apple-compatible doors only.
    case advancedCommerceManage = "advancedCommerce:manage"

    /// The scope that allows this too: who declares a link is told of those that stand against it.
    package var impliedBy: Scope? { self == .linksRead ? .linksWrite : nil }
}
