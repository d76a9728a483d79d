package import Foundation

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
