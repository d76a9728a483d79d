package import AppStoreAPI
import Foundation
import OpenSSL

/// A notification and how its delivery went so far.
package struct SimulatedNotification: Sendable {
    /// One attempt to deliver it.
    package struct Attempt: Sendable, Hashable {
        /// UNIX milliseconds.
        package let date: Int64
        package let result: SendAttemptResult
    }

    /// Counts all notifications, from 1.
    package let number: Int
    /// A UUID in lower case; the same for all attempts.
    package let uuid: String
    package let draft: NotificationDraft
    /// The app's Apple id when it was made.
    let appAppleID: Int64
    /// UNIX milliseconds.
    package let signedDate: Int64
    /// What Get Test Notification Status asks by, for a test.
    let testToken: String?
    /// The compact JWS; signed for the first attempt and the same ever after.
    package internal(set) var signedPayload: String?
    package internal(set) var attempts: [Attempt] = []
    /// When the next attempt is due, UNIX milliseconds; nil when there is none or one is under way.
    package internal(set) var nextAttemptDate: Int64?

    /// Whether the receiver has confirmed it.
    package var isDelivered: Bool { attempts.contains { $0.result == .success } }

    /// The attempts as Apple reports them.
    var sendAttempts: [SendAttemptItem] {
        attempts.map { attempt in
            SendAttemptItem {
                $0.attemptDate = attempt.date
                $0.sendAttemptResult = attempt.result
            }
        }
    }
}

extension SigningAuthority {
    /// Signs a notification with everything signed inside it.
    ///
    /// - Returns: A compact JWS.
    /// - Throws: `OpenSSLError`
    func sign(_ notification: SimulatedNotification) throws(OpenSSLError) -> String {
        let draft = notification.draft
        let date = Date(timeIntervalSince1970: Double(notification.signedDate) / 1000)
        let bundleID = draft.tampering == .wrongBundleId ? draft.bundleID + ".other" : draft.bundleID
        let environment = draft.tampering == .wrongEnvironment ? draft.environment.other : draft.environment
        // Apple leaves the app's id out in the sandbox.
        let appAppleID = environment == .production ? notification.appAppleID : nil
        var payload = NotificationPayload()
        payload.notificationType = draft.type
        payload.subtype = draft.subtype
        payload.notificationUUID = notification.uuid
        payload.version = "2.0"
        payload.signedDate = notification.signedDate
        switch draft.subject {
        case .data(let subject):
            var data = try data(subject, at: date, draft.transactionTampering)
            data.environment = environment.wireValue
            data.appAppleId = appAppleID
            data.bundleId = bundleID
            payload.data = data
        case .summary(var summary):
            summary.environment = environment.wireValue
            summary.appAppleId = appAppleID
            summary.bundleId = bundleID
            payload.summary = summary
        case .externalPurchaseToken(var token):
            token.appAppleId = notification.appAppleID
            token.bundleId = bundleID
            payload.externalPurchaseToken = token
        case .appData(let appTransaction):
            var data = AppData()
            data.environment = environment.wireValue
            data.appAppleId = appAppleID
            data.bundleId = bundleID
            data.signedAppTransactionInfo = try sign(appTransaction.serialized())
            payload.appData = data
        }
        guard let tampering = draft.tampering else { return try sign(payload.serialized()) }
        return try sign(payload.serialized(), at: date, tampering)
    }

    private func data(
        _ subject: NotifiedPurchase, at date: Date, _ tampering: Tampering?
    ) throws(OpenSSLError) -> NotificationData {
        var data = NotificationData()
        data.status = subject.status
        data.consumptionRequestReason = subject.consumptionRequestReason
        if let transaction = subject.transaction {
            data.bundleVersion = "1"
            data.signedTransactionInfo =
                if let tampering { try sign(transaction, at: date, tampering) } else { try sign(transaction, at: date) }
        }
        if var renewalInfo = subject.renewalInfo {
            renewalInfo.signedDate = date.unixMilliseconds
            data.signedRenewalInfo = try sign(renewalInfo.serialized())
        }
        return data
    }
}
