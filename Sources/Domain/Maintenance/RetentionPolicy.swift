package import Foundation

/// How long what is over is kept.
package struct RetentionPolicy: Sendable, Equatable {
    /// Notifications, from the time they were received on.
    package var notifications: Duration = .seconds(180 * 86_400)
    /// Deliveries and cases, from their end on.
    package var deliveries: Duration = .seconds(730 * 86_400)
    /// Single attempts, from their start on.
    package var attempts: Duration = .seconds(90 * 86_400)
    /// Receipts, from the time they were last brought up to date on.
    package var receipts: Duration = .seconds(730 * 86_400)
    /// Reports of usage, from the receipt of the newest about a purchase on.
    package var usage: Duration = .seconds(730 * 86_400)
    /// Events, from the time they happened on.
    package var events: Duration = .seconds(30 * 86_400)
    /// Notifications, deliveries, cases, receipts and reports of usage of the Sandbox, from the same times on; what is kept for
    /// less time anyway is not kept for longer.
    package var sandbox: Duration = .seconds(30 * 86_400)

    package init() {}

    /// How long notifications of an environment are kept.
    package func notifications(in environment: AppStoreEnvironment) -> Duration {
        environment == .sandbox ? min(notifications, sandbox) : notifications
    }
}

/// What one batch of the retention removed.
package struct RetentionResult: Sendable, Equatable {
    package var notifications = 0
    package var deliveries = 0
    package var cases = 0
    package var attempts = 0
    package var events = 0
    package var idempotencyKeys = 0
    package var quarantined = 0
    package var receipts = 0
    package var usage = 0
    /// What Apple has answered about purchases.
    package var answers = 0

    package init() {}

    /// Whether there was nothing left to remove.
    package var isEmpty: Bool { self == RetentionResult() }
}

/// Work on the store as a whole.
package protocol StoreMaintenance: Sendable {
    /// Removes what is older than the policy wants, at most `limit` rows of each kind; nothing that is not over.
    ///
    /// - Returns: what was removed.
    /// - Throws: `storeUnavailable`.
    func enforceRetention(
        _ policy: RetentionPolicy, at now: Date, limit: Int
    ) async throws(ServiceError) -> RetentionResult

    /// Judges owners of cases anew, at most `limit`, where the settings of their app have changed or a link concerns
    /// very many.
    ///
    /// - Returns: whether there are more.
    /// - Throws: `storeUnavailable`.
    func refreshOwners(limit: Int) async throws(ServiceError) -> Bool

    /// Copies the store into a new file while it is in use; whoever opens the copy finds sending held.
    ///
    /// - Throws: `storeUnavailable` when the file exists or cannot be written; nothing is left behind then.
    func backup(to path: String, at now: Date) async throws(ServiceError)

    /// Looks at every page, index and reference of the store.
    ///
    /// - Returns: what is wrong, one sentence each; empty when nothing is.
    /// - Throws: `storeUnavailable`.
    func checkIntegrity() async throws(ServiceError) -> [String]
}
