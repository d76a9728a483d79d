package import Foundation

/// Keeps what happened, in the order of commits: whoever reads on from a position never misses an event.
///
/// Every method throws `storeUnavailable`. Times of day are whole milliseconds.
package protocol EventStore: Sendable {
    /// An app's events behind a position, in order.
    func events(app: String, after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent]

    /// Events of all apps behind a position, in order.
    func events(after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent]

    /// The position behind which everything lies that happened at or after a time.
    func eventPosition(before date: Date) async throws(ServiceError) -> Int64

    /// The position of the latest event of all, and that behind which events are still kept.
    func eventBounds() async throws(ServiceError) -> EventBounds
}

/// Which events are there.
package struct EventBounds: Sendable, Equatable {
    /// Positions up to this one may have been forgotten; zero when none was.
    package let forgotten: Int64
    /// The latest position; `forgotten` when there is no event.
    package let latest: Int64

    package init(forgotten: Int64, latest: Int64) {
        self.forgotten = forgotten
        self.latest = latest
    }
}

/// Something that happened here, as callers follow it.
package struct ServiceEvent: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case notificationReceived = "notification.received"
        case caseOpened = "case.opened"
        case caseReminded = "case.reminded"
        case caseAnswered = "case.answered"
        case caseDeclined = "case.declined"
        case caseExpired = "case.expired"
        case caseDecided = "case.decided"
        case guardianConsentRescinded = "guardianConsentRescinded"
        case deliveryQueued = "delivery.queued"
        case deliveryAccepted = "delivery.accepted"
        case deliveryRefused = "delivery.refused"
        case deliveryExpired = "delivery.expired"
        case deliveryCancelled = "delivery.cancelled"
    }

    /// Where it stands in the order of commits.
    ///
    /// Never reused; zero until it is kept.
    package var position: Int64
    package let app: String
    package let kind: Kind
    /// The notification's UUID, the case's or the delivery's id.
    package let subject: String
    package let at: Date
    package var environment: AppStoreEnvironment?
    package var transactionID: String?
    package var user: UserID?
    package var caseID: String?
    /// The case's `outcome`, or the delivery's failure as `ServiceError.Reason`.
    package var detail: String?
    package var notificationType: String?
    package var subtype: String?

    package init(
        position: Int64 = 0, app: String, kind: Kind, subject: String, at: Date,
        environment: AppStoreEnvironment? = nil, transactionID: String? = nil, user: UserID? = nil,
        caseID: String? = nil, detail: String? = nil, notificationType: String? = nil, subtype: String? = nil
    ) {
        self.position = position
        self.app = app
        self.kind = kind
        self.subject = subject
        self.at = at
        self.environment = environment
        self.transactionID = transactionID
        self.user = user
        self.caseID = caseID
        self.detail = detail
        self.notificationType = notificationType
        self.subtype = subtype
    }
}
