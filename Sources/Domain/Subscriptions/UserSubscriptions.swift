package import Foundation

/// Reads a user's subscriptions: of every Apple Account behind the user's links, verified and attributed.
package struct UserSubscriptionsService: Sendable {
    private let gateway: any SubscriptionGateway
    private let links: any LinkStore
    private let accounts: AccountReader
    private let now: WallClock

    package init(
        gateway: any AppStoreGateway & SubscriptionGateway, links: any LinkStore, memory: any TransactionMemory,
        limits: UserPurchasesService.Limits = UserPurchasesService.Limits(), now: @escaping WallClock
    ) {
        self.gateway = gateway
        self.links = links
        accounts = AccountReader(
            resolver: AccountResolver(gateway: gateway, memory: memory, maximumPages: limits.pagesPerAccount),
            concurrentCalls: limits.concurrentAccounts)
        self.now = now
    }

    /// The subscriptions of a user.
    ///
    /// - Parameters:
    ///   - user: whose.
    ///   - statuses: those to report; empty for all.
    ///   - isPartialAllowed: whether accounts that fail are reported as gaps instead of failing the whole.
    ///   - call: for whom and until when.
    /// - Returns: the user's subscriptions, latest purchase first.
    /// - Throws: `noTransactionKnown`, or what the gateway or a store throws.
    package func subscriptions(
        of user: UserID, statuses: [SubscriptionStatus], isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> UserSubscriptions {
        let own = try await links.links(app: call.app.slug, user: user)
        let resolution = try await accounts.accounts(of: user, own, isPartialAllowed: isPartialAllowed, call)
        let reading = try await accounts.ask(
            resolution.accounts.map { AccountReader.Question(part: .subscriptions, account: $0) },
            isPartialAllowed: isPartialAllowed, call
        ) { [gateway] question, call throws(ServiceError) in
            try await gateway.subscriptionStatuses(question.account.target.value, statuses: statuses, call)
        }
        let all = reading.answers.flatMap(\.subscriptions).withoutDuplicates()
        let transactions = all.map(\.subscription.transaction)
        try await accounts.resolver.remember(transactions, app: call.app)
        try await links.learn(from: transactions, app: call.app.slug, at: now())
        let rule = try await OwnerRule.load(for: transactions, app: call.app, asking: user, from: links)
        let attributed = all.filter { rule.isOwner(user, of: $0.subscription.transaction) }
        return UserSubscriptions(
            subscriptions: attributed, othersOmitted: all.count - attributed.count,
            gaps: resolution.gaps + reading.gaps, readAt: now())
    }
}

/// A subscription with the group it belongs to.
package struct GroupedSubscription: Sendable {
    package let subscriptionGroupIdentifier: String
    package let subscription: Subscription

    package init(subscriptionGroupIdentifier: String, subscription: Subscription) {
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.subscription = subscription
    }
}

extension SubscriptionStatuses {
    /// Every subscription, group by group, in Apple's order.
    package var subscriptions: [GroupedSubscription] {
        groups.flatMap { group in
            group.subscriptions.map {
                GroupedSubscription(
                    subscriptionGroupIdentifier: group.subscriptionGroupIdentifier, subscription: $0)
            }
        }
    }
}

/// A user's subscriptions as they were read, without those of others.
package struct UserSubscriptions: Sendable {
    /// Latest purchase first.
    package let subscriptions: [GroupedSubscription]
    /// How many subscriptions of the same Apple Accounts belong to other users and were left out.
    package let othersOmitted: Int
    /// The parts that could not be read; empty unless the caller asked for a partial answer.
    package let gaps: [AccountGap]
    /// When Apple was read.
    package let readAt: Date
}

extension Sequence<GroupedSubscription> {
    /// One entry a subscription, as Apple signed it last, latest purchase first.
    func withoutDuplicates() -> [GroupedSubscription] {
        var newest: [PurchaseIdentity: GroupedSubscription] = [:]
        for entry in self {
            let transaction = entry.subscription.transaction
            let identity = PurchaseIdentity(
                environment: transaction.environment, identifier: entry.subscription.originalTransactionID)
            let other = newest[identity]?.subscription.transaction
            if let other, other.signedDate >= transaction.signedDate { continue }
            newest[identity] = entry
        }
        return newest.values.sorted { left, right in
            let (left, right) = (left.subscription.transaction, right.subscription.transaction)
            return left.purchaseDate == right.purchaseDate
                ? left.transactionID > right.transactionID : left.purchaseDate > right.purchaseDate
        }
    }
}
