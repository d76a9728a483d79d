package import Foundation

/// Keeps Apple's notifications and applies what they mean.
///
/// Each method is one atomic operation; what it promises is on disk when it returns, and whatever it changes is told in the
/// events of the same operation. Every method throws `storeUnavailable`. Times of day are whole milliseconds, as
/// `ServiceClock` tells them, so that what is returned equals what is read afterwards.
package protocol NotificationStore: Sendable {
    /// Keeps a notification to be processed, unless its UUID is known for the app.
    ///
    /// The hot path of the webhook: it does nothing else.
    /// - Returns: whether it was new.
    /// - Throws: `storeUnavailable`.
    func record(_ notification: StoredNotification) async throws(ServiceError) -> Bool

    /// Notifications that are still to be processed. The apps that have any take turns: the first of each comes first, then
    /// the second of each, and so on; those of one app come in the order in which they were recorded.
    ///
    /// - Parameters:
    ///   - limit: how many at most; when there are fewer, these are all.
    ///   - leftOut: those that are passed over.
    ///   - app: behind which app the turns begin, in the order of their slugs; the text may be empty. It matters where more apps
    ///     than `limit` have any.
    /// - Returns: those that come next.
    /// - Throws: `storeUnavailable`.
    func unprocessedNotifications(
        limit: Int, leavingOut leftOut: Set<NotificationKey>, behind app: String
    ) async throws(ServiceError) -> [StoredNotification]

    /// Applies what a notification means: the changes of cases and deliveries by `FactRules`, what a guardian rescinds for an
    /// Apple Account, the newest signed token of its transaction, its user by the owner rule, links that it teaches by
    /// `LinkRules.taught`, identifiers that belong together; and marks it processed. A notification that is processed already
    /// changes nothing.
    ///
    /// - Parameters:
    ///   - notification: the one to be applied.
    ///   - newCaseID: the id of the case, should one be opened.
    ///   - now: the time of day.
    /// - Returns: what was changed.
    /// - Throws: `storeUnavailable`.
    func process(
        _ notification: StoredNotification, newCaseID: String, at now: Date
    ) async throws(ServiceError) -> AppliedNotification

    /// A notification of an app.
    func notification(app: String, uuid: String) async throws(ServiceError) -> StoredNotification?

    /// A page of an app's notifications, latest recorded first, with the position of each.
    func notifications(
        app: String, _ query: NotificationQuery
    ) async throws(ServiceError) -> [(position: Int64, notification: StoredNotification)]

    /// How far the search for missed notifications has got.
    func historyProgress(
        app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> HistoryProgress?

    /// Keeps how far it has got, unless another copy of the daemon has kept something else meanwhile.
    ///
    /// `known`: what this copy knows to be kept; it counts where the store is shared.
    ///
    /// - Returns: whether it was kept.
    /// - Throws: `storeUnavailable`.
    func saveHistoryProgress(
        _ progress: HistoryProgress, replacing known: HistoryProgress?, app: String, environment: AppStoreEnvironment
    ) async throws(ServiceError) -> Bool
}

/// What a notification changed.
package struct AppliedNotification: Sendable, Equatable {
    /// What it did to the cases of its purchase.
    package var change: CaseRules.Change
    /// Deliveries that it ended.
    package var ended: EndedDeliveries

    package init(change: CaseRules.Change = .none, ended: EndedDeliveries = EndedDeliveries(cancelled: [], sending: []))
    {
        self.change = change
        self.ended = ended
    }
}

/// Which notifications to list.
package struct NotificationQuery: Sendable, Hashable {
    /// The most on one page.
    package static let maximumPageSize = PageLimit.storedRows

    package var type: String?
    package var subtype: String?
    package var user: UserID?
    /// The transaction id or the original transaction id.
    package var transactionID: String?
    package var environment: AppStoreEnvironment?
    /// Only those received at or after this time.
    package var since: Date?
    /// Only those recorded before this position, for the next page.
    package var before: Int64?
    package var limit: Int

    package init(limit: Int = 50) { self.limit = limit }
}

/// How far the search for missed notifications of one app in one environment has got.
package struct HistoryProgress: Sendable, Equatable {
    /// The passes of one search, in their order.
    package enum Pass: String, Sendable, CaseIterable {
        /// Only `CONSUMPTION_REQUEST`, which has a deadline.
        case consumptionRequests
        /// Only what Apple could not deliver.
        case failures
        /// Everything.
        case all
    }

    /// The search that is under way; nil when none is.
    package struct Search: Sendable, Equatable {
        package let pass: Pass
        /// The window that Apple is asked for; the same from page to page.
        package let start: Date
        package let end: Date
        /// The next page; nil for the first.
        package let paginationToken: String?

        package init(pass: Pass, start: Date, end: Date, paginationToken: String?) {
            self.pass = pass
            self.start = start
            self.end = end
            self.paginationToken = paginationToken
        }
    }

    /// Everything that Apple signed before this time has been looked for.
    package var completeUntil: Date?
    /// From this time on there is something that did not verify, and that the quarantine had no room for: it is to be looked
    /// for again.
    package var unkeptSince: Date?
    package var search: Search?

    package init(completeUntil: Date? = nil, unkeptSince: Date? = nil, search: Search? = nil) {
        self.completeUntil = completeUntil
        self.unkeptSince = unkeptSince
        self.search = search
    }
}

/// How a notification came to us.
package enum NotificationSource: String, Sendable {
    /// Apple posted it to the webhook.
    case webhook
    /// A caller forwarded it.
    case forwarded
    /// It was found in Get Notification History.
    case history
}

/// What tells a notification from all others.
package struct NotificationKey: Sendable, Hashable {
    package let app: String
    package let notificationUUID: String

    package init(app: String, notificationUUID: String) {
        self.app = app
        self.notificationUUID = notificationUUID
    }
}

/// A notification as it is kept: verified, decoded, and with what was made of it.
package struct StoredNotification: Sendable {
    package let app: String
    package let notification: AppleNotification
    package let source: NotificationSource
    package let receivedAt: Date
    /// By the owner rule when it was processed; nil when nobody was known, and after an erasure.
    package var user: UserID?
    /// When its effects were applied; nil as long as that is to be done.
    package var processedAt: Date?

    package init(
        app: String, notification: AppleNotification, source: NotificationSource, receivedAt: Date,
        user: UserID? = nil, processedAt: Date? = nil
    ) {
        self.app = app
        self.notification = notification
        self.source = source
        self.receivedAt = receivedAt
        self.user = user
        self.processedAt = processedAt
    }

    package var key: NotificationKey {
        NotificationKey(app: app, notificationUUID: notification.notificationUUID)
    }
}
