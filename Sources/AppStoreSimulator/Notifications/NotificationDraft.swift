package import AppStoreAPI

/// What a notification says, before it is signed; data are as they were when it happened.
package struct NotificationDraft: Sendable {
    /// What a notification is about.
    package enum Subject: Sendable {
        case data(NotificationSubject)
        case summary(Summary)
        case externalPurchaseToken(ExternalPurchaseToken)
        /// The app transaction of the customer who took a consent back.
        case appData(AppTransactionPayload)
    }

    package let bundleID: String
    package let environment: SimulatedEnvironment
    package var type: NotificationTypeV2
    package var subtype: Subtype?
    package var subject: Subject
    /// Who it is about, for Get Notification History; nil for notifications about an app as a whole.
    var customer: Customer?
    /// What is wrong about the notification's own signature, certificates or payload.
    package var tampering: Tampering?
    /// What is wrong about the signed transaction inside.
    package var transactionTampering: Tampering?

    package init(
        _ type: NotificationTypeV2, _ subtype: Subtype? = nil, of bundleID: String,
        in environment: SimulatedEnvironment, about subject: Subject
    ) {
        self.type = type
        self.subtype = subtype
        self.bundleID = bundleID
        self.environment = environment
        self.subject = subject
    }

    /// The transaction that it is about, if it is about one.
    package var transactionID: String? {
        if case .data(let data) = subject { data.transaction?.transactionId } else { nil }
    }
}
