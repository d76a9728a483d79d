package import Foundation

/// Finds what Apple has told of purchases and is kept here, for when Apple cannot be asked.
///
/// Every method throws `storeUnavailable`.
package protocol StoredStateStore: Sendable {
    /// A transaction as Apple signed it last in what is kept of its notifications and answers; nil when none is kept.
    func storedTransaction(
        app: String, id: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> Transaction?

    /// The auto-renewable subscriptions that notifications and answers tell of, for the identifiers that are a user's at present, in one
    /// consistent look.
    func storedSubscriptions(
        app: String, user: UserID, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> StoredSubscriptions
}

/// A subscription as notifications and earlier answers tell of it.
package struct StoredSubscription: Sendable {
    /// Status and renewal information of what Apple signed last, and the latest period.
    package let entry: GroupedSubscription
    /// When Apple signed the status; nobody knows what has become of it since.
    package let asOf: Date

    package init(entry: GroupedSubscription, asOf: Date) {
        self.entry = entry
        self.asOf = asOf
    }
}

/// A user's subscriptions as notifications and earlier answers tell of them, without those of others.
package struct StoredSubscriptions: Sendable {
    /// How many subscriptions of one user are looked for, at most.
    package static let maximumCount = 500

    /// Latest purchase first.
    package var subscriptions: [StoredSubscription]
    /// How many subscriptions that the user's identifiers lead to belong to other users and were left out.
    package var othersOmitted: Int
    /// Whether there may be more than were looked for.
    package var isCut: Bool

    package init(subscriptions: [StoredSubscription] = [], othersOmitted: Int = 0, isCut: Bool = false) {
        self.subscriptions = subscriptions
        self.othersOmitted = othersOmitted
        self.isCut = isCut
    }
}

/// Answers from what is kept alone: no call to Apple, no budget, and never mixed with what Apple says now.
package struct StoredStateService: Sendable {
    private let store: any StoredStateStore

    package init(store: any StoredStateStore) { self.store = store }

    /// A transaction as Apple signed it last in what is kept.
    ///
    /// - Throws: `nothingStored`, `storeUnavailable`.
    package func transaction(
        _ id: String, app: App, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> Transaction {
        guard let found = try await store.storedTransaction(app: app.slug, id: id, environment: environment) else {
            throw ServiceError(
                .nothingStored,
                "Nothing that Apple has told of transaction `\(id)` of app `\(app.slug)` is kept; leave `source` out to ask Apple."
            )
        }
        return found
    }

    /// A user's subscriptions as notifications and earlier answers tell of them.
    ///
    /// - Parameters:
    ///   - user: whose.
    ///   - app: of which app.
    ///   - environment: of which environment; nil for both.
    ///   - statuses: those to report; empty for all.
    /// - Returns: those with one of the statuses, which may be none.
    /// - Throws: `nothingStored` when nothing that is kept tells of any, `storeUnavailable`.
    package func subscriptions(
        of user: UserID, app: App, environment: AppStoreEnvironment?, statuses: [SubscriptionStatus]
    ) async throws(ServiceError) -> StoredSubscriptions {
        var found = try await store.storedSubscriptions(app: app.slug, user: user, environment: environment)
        guard !found.subscriptions.isEmpty || found.othersOmitted > 0 else {
            throw ServiceError(
                .nothingStored,
                "Nothing that Apple has told of a subscription of user `\(user)` is kept; leave `source` out to ask Apple."
            )
        }
        if !statuses.isEmpty {
            found.subscriptions.removeAll { !statuses.contains($0.entry.subscription.status) }
        }
        return found
    }
}
