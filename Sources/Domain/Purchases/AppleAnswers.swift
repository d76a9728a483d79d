package import Foundation

/// What Apple has answered about a transaction, and about the subscription that it is of: kept for when Apple cannot be asked.
package struct AppleAnswer: Sendable {
    /// What Apple said of the subscription that a transaction is the latest of.
    package struct Standing: Sendable {
        package let status: SubscriptionStatus
        package let subscriptionGroupIdentifier: String
        package let renewalInfo: VerifiedData
        /// When Apple signed it.
        package let signedDate: Date

        package init(
            status: SubscriptionStatus, subscriptionGroupIdentifier: String, renewalInfo: VerifiedData,
            signedDate: Date
        ) {
            self.status = status
            self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
            self.renewalInfo = renewalInfo
            self.signedDate = signedDate
        }
    }

    /// The app's slug.
    package let app: String
    package let transaction: Transaction
    /// Nil as long as Apple was asked about the transaction alone.
    package var standing: Standing?

    package init(app: String, transaction: Transaction, standing: Standing? = nil) {
        self.app = app
        self.transaction = transaction
        self.standing = standing
    }

    /// Which place it takes: one is kept of each transaction.
    package var key: Key {
        Key(app: app, environment: transaction.environment, transactionID: transaction.transactionID)
    }

    package struct Key: Sendable, Hashable {
        package let app: String
        package let environment: AppStoreEnvironment
        package let transactionID: String
    }

    /// The newest of what two answers about one transaction say.
    package func merged(with other: AppleAnswer) -> AppleAnswer {
        var newest = other.transaction.signedDate > transaction.signedDate ? other : self
        newest.standing = [standing, other.standing].compactMap(\.self).max { $0.signedDate < $1.signedDate }
        return newest
    }
}

/// Keeps what Apple has answered.
package protocol AppleAnswerStore: Sendable {
    /// How many erasures there have been in this process.
    ///
    /// Quick; asked before an answer is held in memory.
    var erasures: Int { get }

    /// Keeps answers, of each transaction what Apple signed last; none where a user was erased since they were noted, as one of them
    /// may be the user's.
    ///
    /// `count`: what `erasures` was then; `now`: from when on they are kept.
    ///
    /// - Throws: `storeUnavailable`.
    func keep(_ answers: [AppleAnswer], notedAfter count: Int, at now: Date) async throws(ServiceError)
}
