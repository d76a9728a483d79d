package import Foundation

/// What is known of a user at a glance.
package struct UserOverview: Sendable {
    /// An Apple Account that the user's links lead to.
    package struct Account: Sendable, Hashable {
        /// The identifier by which Apple is asked about it: its `appTransactionId` where that is known.
        package let target: LinkTarget
        /// Nil as long as it is not known.
        package let environment: AppStoreEnvironment?
    }

    /// Every link of the user, ended ones included, oldest first.
    package let links: [Link]
    package let accounts: [Account]
    /// Those that entitle the user now: active, or in the billing grace period; latest purchase first.
    package let activeSubscriptions: [GroupedSubscription]
    /// How many of the user's purchases Apple has refunded or revoked.
    package let refundCount: Int
    /// How many subscriptions and refunded purchases of the same Apple Accounts belong to other users.
    package let othersOmitted: Int
    /// Why the counts may be too low, if they may.
    package let incompleteReason: String?
    /// The parts that could not be read; empty unless the caller asked for a partial answer.
    package let gaps: [AccountGap]
    /// When Apple was read.
    package let readAt: Date
}
