/// The calls about App Store Server Notifications; the environment of every call must be given.
///
/// Methods throw what those of `TransactionGateway` throw.
package protocol NotificationGateway: Sendable {
    /// Request a Test Notification.
    ///
    /// - Returns: the token by which its status is asked.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/request-a-test-notification
    func requestTestNotification(_ call: UpstreamCall) async throws(ServiceError) -> String

    /// Get Test Notification Status.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-test-notification-status
    func testNotification(
        _ token: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> SentNotification

    /// One page of Get Notification History, what does not verify apart; the query must stay the same from page to page.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-notification-history
    func notificationHistoryPage(
        _ query: NotificationHistoryQuery, paginationToken: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> NotificationHistoryPage
}

/// One page of Get Notification History.
package struct NotificationHistoryPage: Sendable {
    package let notifications: [SentNotification]
    /// What does not verify as this app's in this environment.
    package let unverified: [UnverifiedNotification]
    /// Asks for the next page.
    package let paginationToken: String?
    package let hasMore: Bool

    package init(
        notifications: [SentNotification], unverified: [UnverifiedNotification] = [], paginationToken: String?,
        hasMore: Bool
    ) {
        self.notifications = notifications
        self.unverified = unverified
        self.paginationToken = paginationToken
        self.hasMore = hasMore
    }

    /// The page, if all of it verifies.
    ///
    /// - Throws: `appleAnswerInvalid`.
    package func verifiedWhole() throws(ServiceError) -> NotificationHistoryPage {
        guard let first = unverified.first else { return self }
        throw ServiceError(
            .appleAnswerInvalid, "Data that should be signed by Apple did not verify; it is not passed on.",
            cause: "\(unverified.count) notifications of the history did not verify, the first because: \(first.fault)")
    }
}

/// A notification of Apple's history that does not verify as the app's.
package struct UnverifiedNotification: Sendable {
    /// As Apple's answer holds it; empty where it holds nothing.
    package let signed: String
    /// What does not fit, in one sentence without identifiers.
    package let fault: String
    package let claims: NotificationClaims

    package init(signed: String, fault: String, claims: NotificationClaims) {
        self.signed = signed
        self.fault = fault
        self.claims = claims
    }
}

/// A notification that Apple sent or tried to send.
package struct SentNotification: Sendable {
    package let notification: AppleNotification
    package let attempts: [SendAttempt]

    package init(notification: AppleNotification, attempts: [SendAttempt]) {
        self.notification = notification
        self.attempts = attempts
    }
}

/// One attempt of Apple's to deliver a notification to us.
package struct SendAttempt: Sendable, Equatable {
    /// UNIX milliseconds.
    package let attemptDate: Int64?
    /// Apple's `sendAttemptResult`, such as `SUCCESS`.
    package let result: String?

    package init(attemptDate: Int64?, result: String?) {
        self.attemptDate = attemptDate
        self.result = result
    }
}

/// A verified App Store Server Notification, version 2.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload
package struct AppleNotification: Sendable {
    package let notificationUUID: String
    /// Apple's `notificationType`, whether known here or not.
    package let notificationType: String
    package let subtype: String?
    /// UNIX milliseconds; the same in every repetition.
    package let signedDate: Int64?
    package let environment: AppStoreEnvironment
    /// The decoded payload: a JSON object in which the signed parts inside (transaction, renewal info, app transaction) are
    /// left out.
    package let payload: [UInt8]
    /// The notification as Apple signed it (compact JWS).
    package let signed: String
    /// What `data.signedTransactionInfo` holds, verified.
    package let transaction: Transaction?
    /// What `data.signedRenewalInfo` holds, verified.
    package let renewalInfo: VerifiedData?
    /// What `appData.signedAppTransactionInfo` holds, verified.
    package let appTransaction: VerifiedData?
    /// The Apple Account in the app, from the transaction or the app transaction.
    package let appTransactionID: String?
    /// Apple's `data.consumptionRequestReason`, such as `UNINTENDED_PURCHASE`.
    package let consumptionRequestReason: String?

    /// `appTransactionID`: the app transaction's; where there is a transaction, its own is taken.
    package init(
        notificationUUID: String, notificationType: String, subtype: String?, signedDate: Int64?,
        environment: AppStoreEnvironment, payload: [UInt8], signed: String, transaction: Transaction?,
        renewalInfo: VerifiedData?, appTransaction: VerifiedData?, appTransactionID: String? = nil,
        consumptionRequestReason: String? = nil
    ) {
        self.notificationUUID = notificationUUID
        self.notificationType = notificationType
        self.subtype = subtype
        self.signedDate = signedDate
        self.environment = environment
        self.payload = payload
        self.signed = signed
        self.transaction = transaction
        self.renewalInfo = renewalInfo
        self.appTransaction = appTransaction
        self.appTransactionID = transaction?.appTransactionID ?? appTransactionID
        self.consumptionRequestReason = consumptionRequestReason
    }
}
