package import Foundation

/// A subscription with the group it belongs to.
package struct GroupedSubscription: Sendable {
    package let subscriptionGroupIdentifier: String
    package let subscription: Subscription
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
