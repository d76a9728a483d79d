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

/// Which events are there, and which store they are of.
package struct EventBounds: Sendable, Equatable {
    /// Positions up to this one may have been forgotten; zero when none was.
    package let forgotten: Int64
    /// The latest position; `forgotten` when there is no event.
    package let latest: Int64
    /// What positions mean something in: another one since the store was restored from a backup.
    package let epoch: String
    /// The latest position that releases gave out which knew no epochs; zero when none did.
    package let latestWithoutEpoch: Int64

    package init(forgotten: Int64, latest: Int64, epoch: String, latestWithoutEpoch: Int64 = 0) {
        self.forgotten = forgotten
        self.latest = latest
        self.epoch = epoch
        self.latestWithoutEpoch = latestWithoutEpoch
    }
}

/// Up to which event a reader has read, for callers an opaque text.
///
/// A store that comes from a backup gives positions out anew: the epoch tells its own from those of the store before.
package struct EventCursor: Sendable, Equatable {
    /// Nil in a cursor of a release that knew no epochs, and in `0`, with which everything begins.
    package let epoch: String?
    package let position: Int64

    package init(epoch: String?, position: Int64) {
        self.epoch = epoch
        self.position = position
    }

    /// Reads the text of a cursor; nil for any other.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let digits = parts.last, let position = Int64(digits), position >= 0, String(position) == digits,
            parts.count == 1 || !parts[0].isEmpty
        else { return nil }
        self.init(epoch: parts.count == 1 ? nil : String(parts[0]), position: position)
    }

    package var text: String { epoch.map { "\($0)-\(position)" } ?? String(position) }
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
        case receiptConfirmed = "receipt.confirmed"
        case receiptFraud = "receipt.fraud"
        case receiptChanged = "receipt.changed"
    }

    /// Where it stands in the order of commits.
    ///
    /// Never reused; zero until it is kept.
    package var position: Int64
    package let app: String
    package let kind: Kind
    /// The notification's UUID, the case's, the delivery's or the receipt's id.
    package let subject: String
    package let at: Date
    package var environment: AppStoreEnvironment?
    package var transactionID: String?
    package var user: UserID?
    package var caseID: String?
    /// The case's `outcome`, the delivery's failure as `ServiceError.Reason`, or why the receipt is fraud.
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
