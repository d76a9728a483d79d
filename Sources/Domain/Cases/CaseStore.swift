package import Foundation

/// Keeps refund cases.
///
/// Each method is one atomic operation; what it promises is on disk when it returns, and whatever it changes is told in the
/// events of the same operation. Every method throws `storeUnavailable`. Times of day are whole milliseconds, as
/// `ServiceClock` tells them, so that what is returned equals what is read afterwards.
package protocol CaseStore: Sendable {
    /// A case of an app.
    func refundCase(app: String, id: String) async throws(ServiceError) -> RefundCase?

    /// A page of an app's cases, soonest deadline first, or last where the query says so; a user's in whatever spelling its id
    /// comes.
    func refundCases(app: String, _ query: CaseQuery) async throws(ServiceError) -> [RefundCase]

    /// The latest case of a transaction; of both environments, the one that was requested last.
    func latestCase(
        app: String, transactionID: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> RefundCase?

    /// Records that a case is not answered, and cancels its deliveries as `cancelDelivery` does.
    ///
    /// First applies what Apple has told of the purchase and nobody has applied yet. Declining a declined case changes nothing.
    ///
    /// - Returns: what came of it, and the deliveries that ended; nil when there is no such case.
    /// - Throws: `storeUnavailable`.
    func decline(
        app: String, id: String, _ decline: RefundCase.Decline
    ) async throws(ServiceError) -> (result: CaseDeclineResult, ended: EndedDeliveries)?

    /// Makes open cases whose deadline has passed `expired`.
    ///
    /// - Returns: those that did, at most `limit`.
    /// - Throws: `storeUnavailable`.
    func expireCases(at now: Date, limit: Int) async throws(ServiceError) -> [RefundCase]

    /// Open cases of an app without any delivery that is under way, whose deadline lies before a time; of the query, the
    /// environment, the place, the order and the limit count.
    func unansweredCases(
        app: String, _ query: CaseQuery, deadlineBefore: Date
    ) async throws(ServiceError) -> [RefundCase]

    /// How many purchases of a user Apple has refunded and not taken that back, as far as cases and notifications that are
    /// kept tell; one transaction is left out.
    func refunds(
        of user: UserID, app: String, in environment: AppStoreEnvironment, besides transactionID: String
    ) async throws(ServiceError) -> Int

    /// How many cases are open, by app and environment, with the nearest deadline of each.
    func caseBacklog() async throws(ServiceError) -> [CaseBacklog]
}

/// What declining a case came to.
package enum CaseDeclineResult: Sendable, Equatable {
    /// Declined now or before.
    case declined(RefundCase)
    /// The case is answered, expired or decided.
    case closed(RefundCase)
}

/// Which cases to list.
package struct CaseQuery: Sendable, Hashable {
    /// The most on one page.
    package static let maximumPageSize = PageLimit.storedRows

    /// Where the page begins: behind this deadline and id.
    package struct Position: Sendable, Hashable {
        package let deadline: Date
        package let id: String

        package init(deadline: Date, id: String) {
            self.deadline = deadline
            self.id = id
        }
    }

    package var states: Set<RefundCase.State> = []
    package var owner: UserID?
    package var transactionID: String?
    package var environment: AppStoreEnvironment?
    package var after: Position?
    /// Whether the list begins with the latest deadline.
    package var isLatestFirst = false
    package var limit: Int

    package init(limit: Int = 50) { self.limit = limit }
}

/// Open cases of one app in one environment.
package struct CaseBacklog: Sendable, Hashable {
    package let app: String
    package let environment: AppStoreEnvironment
    package let open: Int
    package let nearestDeadline: Date

    package init(app: String, environment: AppStoreEnvironment, open: Int, nearestDeadline: Date) {
        self.app = app
        self.environment = environment
        self.open = open
        self.nearestDeadline = nearestDeadline
    }
}
