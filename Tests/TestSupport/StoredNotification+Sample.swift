package import Domain
import Foundation

extension StoredNotification {
    /// A notification about refunds or anything else, with what a test cares about; hours count as in `CaseDesk.time`.
    package static func sample(
        _ uuid: String, type: String = "CONSUMPTION_REQUEST", subtype: String? = nil, reason: String? = nil,
        at hour: Double = 0, received: Double? = nil, transaction: Transaction? = .sample(), app: String = "coins",
        environment: AppStoreEnvironment = .production, source: NotificationSource = .webhook
    ) -> StoredNotification {
        let signedDate = Int64(CaseDesk.time(hour).timeIntervalSince1970 * 1000)
        return StoredNotification(
            app: app,
            notification: AppleNotification(
                notificationUUID: uuid, notificationType: type, subtype: subtype, signedDate: signedDate,
                environment: transaction?.environment ?? environment,
                payload: Array(#"{"notificationUUID":"\#(uuid)"}"#.utf8), signed: "n.\(uuid).n",
                transaction: transaction, renewalInfo: nil, appTransaction: nil, consumptionRequestReason: reason),
            source: source, receivedAt: CaseDesk.time(received ?? hour))
    }

    /// The notification that brings a notice.
    package init(_ notice: CaseRules.Notice, transaction: Transaction) {
        let (type, reason): (String, String?) =
            switch notice.message {
            case .request(let reason): ("CONSUMPTION_REQUEST", reason)
            case .outcome(.refunded): ("REFUND", nil)
            case .outcome(.refundDeclined): ("REFUND_DECLINED", nil)
            case .outcome(.refundReversed): ("REFUND_REVERSED", nil)
            }
        let hour = notice.signedAt.timeIntervalSince(CaseDesk.time(0)) / 3600
        self = .sample(
            notice.notificationUUID, type: type, reason: reason, at: hour, transaction: transaction, app: notice.app)
    }

    /// What it says of a refund.
    package var notice: CaseRules.Notice? {
        let message = CaseRules.Message(
            type: notification.notificationType, consumptionRequestReason: notification.consumptionRequestReason)
        guard let message, let transaction = notification.transaction, let signedDate = notification.signedDate else {
            return nil
        }
        return CaseRules.Notice(
            message: message, notificationUUID: notification.notificationUUID, app: app, purchase: transaction.facts,
            signedAt: Date(timeIntervalSince1970: Double(signedDate) / 1000), receivedAt: receivedAt)
    }
}

extension NotificationStore {
    /// Records notifications and applies each at the time it was received; the ids of cases are those of the requests.
    ///
    /// - Returns: what each changed.
    /// - Throws: `storeUnavailable`.
    @discardableResult
    package func take(
        _ notifications: StoredNotification..., links: [Link] = []
    ) async throws(ServiceError) -> [CaseRules.Change] {
        var changes: [CaseRules.Change] = []
        for notification in notifications {
            _ = try await record(notification)
            changes.append(
                try await process(
                    notification, notice: notification.notice, links: links,
                    newCaseID: "case-\(notification.notification.notificationUUID)", at: notification.receivedAt))
        }
        return changes
    }
}
