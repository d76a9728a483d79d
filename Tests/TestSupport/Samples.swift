package import Domain
package import Foundation

extension Transaction {
    /// A transaction with what a test cares about.
    package static func sample(
        id: String = "1000", original: String? = nil, webOrderLineItem: String? = nil, account: String? = nil,
        token: String? = nil, type: ProductType = .consumable, purchased: TimeInterval = 1000,
        signed: TimeInterval = 5000, revoked: TimeInterval? = nil, isFamilyShared: Bool = false,
        isAdvancedCommerce: Bool = false, environment: AppStoreEnvironment = .production,
        details: TransactionDetails = TransactionDetails()
    ) -> Transaction {
        Transaction(
            transactionID: id, originalTransactionID: original ?? id, webOrderLineItemID: webOrderLineItem,
            appTransactionID: account, appAccountToken: token, productID: "gems", productType: type,
            purchaseDate: Date(timeIntervalSince1970: purchased), signedDate: Date(timeIntervalSince1970: signed),
            revocationDate: revoked.map(Date.init(timeIntervalSince1970:)), isFamilyShared: isFamilyShared,
            isAdvancedCommerce: isAdvancedCommerce, environment: environment, details: details,
            payload: Array(#"{"transactionId":"\#(id)"}"#.utf8), signed: "a.b.c")
    }
}

extension Link {
    /// A link with what a test cares about.
    package static func sample(
        _ kind: LinkTarget.Kind, _ value: String, user: String, environment: AppStoreEnvironment? = nil,
        source: LinkSource = .declared, from: TimeInterval? = nil, until: TimeInterval? = nil,
        created: TimeInterval = 100
    ) throws -> Link {
        Link(
            app: "coins", user: try UserID(user), target: LinkTarget(kind, value), environment: environment,
            source: source, validFrom: from.map(Date.init(timeIntervalSince1970:)),
            validUntil: until.map(Date.init(timeIntervalSince1970:)),
            createdAt: Date(timeIntervalSince1970: created), createdBy: "test")
    }
}

extension StoredNotification {
    /// A notification about refunds or anything else, with what a test cares about; hours count as in `CaseModel.time`.
    package static func sample(
        _ uuid: String, type: String = "CONSUMPTION_REQUEST", subtype: String? = nil, reason: String? = nil,
        at hour: Double = 0, received: Double? = nil, transaction: Transaction? = .sample(), app: String = "coins",
        environment: AppStoreEnvironment = .production, source: NotificationSource = .webhook
    ) -> StoredNotification {
        let signedDate = Int64(CaseModel.time(hour).timeIntervalSince1970 * 1000)
        return StoredNotification(
            app: app,
            notification: AppleNotification(
                notificationUUID: uuid, notificationType: type, subtype: subtype, signedDate: signedDate,
                environment: transaction?.environment ?? environment,
                payload: Array(#"{"notificationUUID":"\#(uuid)"}"#.utf8), signed: "n.\(uuid).n",
                transaction: transaction, renewalInfo: nil, appTransaction: nil, consumptionRequestReason: reason),
            source: source, receivedAt: CaseModel.time(received ?? hour))
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
        let hour = notice.signedAt.timeIntervalSince(CaseModel.time(0)) / 3600
        self = .sample(
            notice.notificationUUID, type: type, reason: reason, at: hour, transaction: transaction, app: notice.app)
    }
}

extension NotificationStore {
    /// Notifications that are still to be processed, those of the app first whose slug comes first.
    package func unprocessedNotifications(limit: Int) async throws(ServiceError) -> [StoredNotification] {
        try await unprocessedNotifications(limit: limit, leavingOut: [], behind: "")
    }

    /// Records notifications and applies each at the time it was received; the ids of cases are those of the requests.
    ///
    /// - Returns: what each changed.
    /// - Throws: `storeUnavailable`.
    @discardableResult
    package func take(
        _ notifications: StoredNotification...
    ) async throws(ServiceError) -> [CaseRules.Change] {
        var changes: [CaseRules.Change] = []
        for notification in notifications {
            _ = try await record(notification)
            changes.append(
                try await process(
                    notification, newCaseID: "case-\(notification.notification.notificationUUID)",
                    at: notification.receivedAt
                ).change)
        }
        return changes
    }
}

extension DeliveryDraft {
    /// An answer that is queued at hour zero of `CaseModel.time` and due by hour twelve, with what a test cares about.
    package static func sample(
        _ id: String, caseID: String? = nil, transaction: String = "1000", user: String? = nil,
        purchase: PurchaseFacts? = nil, environment: AppStoreEnvironment? = .production, app: String = "coins",
        body: String = "{}", at hour: Double = 0, due: Double? = nil, deadline: Double = 12, key: IdempotencyKey? = nil,
        digest: [UInt8] = [1], policy: PolicyTrace? = nil
    ) throws -> DeliveryDraft {
        var delivery = Delivery(
            id: id, app: app, caseID: caseID, user: try user.map(UserID.init), caller: "shop",
            transactionID: transaction, environment: environment, purchase: purchase, version: .v2,
            body: Array(body.utf8), createdAt: CaseModel.time(hour), deadline: CaseModel.time(deadline),
            requestedDeadline: CaseModel.time(deadline), nextAttemptAt: CaseModel.time(due ?? hour))
        delivery.policy = policy
        return DeliveryDraft(
            delivery: delivery, idempotencyKey: key, requestDigest: digest, subject: ConsentSubject(delivery))
    }
}
