package import Foundation

/// Decides whether somebody's withdrawal stands against an answer: the one rule behind every way out.
package enum ConsentRules {
    /// What the rule looks at.
    package struct Situation: Sendable {
        /// The app's settings; nil where the configuration does not name it any more.
        package var app: App?
        /// By the owner rule; nil when nobody is known.
        package var owner: UserID?
        /// The latest records of the named user and of the owner, in each spelling of their ids, as far as there are any.
        package var latest: [ConsentRecord] = []
        /// Users among the two whose withdrawal an erasure left behind.
        package var erasedUsers: [UserID] = []
        /// Whether one of the purchase's identifiers was linked to an erased user who had withdrawn.
        package var isErasedPurchase = false
        /// When Apple last signed that a guardian rescinded consent for the purchase's Apple Account.
        package var rescindedAt: Date?
        /// When a guardian last consented for the owner before the answer was made.
        package var guardianConsentAt: Date?

        package init() {}
    }

    /// The objection, if there is one.
    ///
    /// A purchase whose owner is known again is judged by that owner, whoever was erased before. Of a user whose id came in
    /// several spellings, any withdrawal counts.
    package static func objection(to subject: ConsentSubject, _ situation: Situation) -> ConsentObjection? {
        for user in [subject.user, situation.owner].compactMap(\.self) {
            let records = situation.latest.filter { $0.user.isSameUser(as: user) }
            if let withdrawn = records.first(where: { !$0.isConsented }) { return .withdrawn(withdrawn.user) }
            if records.isEmpty, situation.erasedUsers.contains(where: { $0.isSameUser(as: user) }) {
                return .withdrawn(user)
            }
        }
        if situation.owner == nil && situation.isErasedPurchase { return .erased }
        if isRescinded(situation) { return .rescinded }
        return subject.isByPolicy && !isRecorded(situation) ? .notRecorded : nil
    }

    /// Only a consent that a guardian gave later lifts what a guardian took back, and only for what is made afterwards: what
    /// was under way has ended with the rescission, whenever that became known.
    private static func isRescinded(_ situation: Situation) -> Bool {
        guard let rescindedAt = situation.rescindedAt, situation.app?.guardianBlocksConsumption ?? true else {
            return false
        }
        return situation.guardianConsentAt.map { $0 <= rescindedAt } ?? true
    }

    /// Whether the owner's consent is on record, to a wording that the app still takes.
    private static func isRecorded(_ situation: Situation) -> Bool {
        guard let owner = situation.owner else { return false }
        let records = situation.latest.filter { $0.user.isSameUser(as: owner) }
        guard let latest = records.max(by: { $0.recordedAt < $1.recordedAt }), latest.isConsented else { return false }
        return situation.app?.isWordingRecent(latest.wordingVersion) ?? true
    }
}

/// Whose consent a consumption answer needs.
package struct ConsentSubject: Sendable, Equatable {
    package let app: String
    /// The user that the caller named, whoever the owner is.
    package let user: UserID?
    package let transactionID: String
    package let environment: AppStoreEnvironment?
    /// What is known of the purchase; without it only links of the transaction id tell the owner.
    package let purchase: PurchaseFacts?
    /// When the answer was made; nil for now.
    package let madeAt: Date?
    /// Whether nobody but the app's policy gives the answer, so that the owner's consent must be on record here.
    package let isByPolicy: Bool

    package init(
        app: String, user: UserID?, transactionID: String, environment: AppStoreEnvironment?,
        purchase: PurchaseFacts?, madeAt: Date? = nil, isByPolicy: Bool = false
    ) {
        self.madeAt = madeAt
        self.isByPolicy = isByPolicy
        self.app = app
        self.user = user
        self.transactionID = transactionID
        self.environment = environment
        self.purchase = purchase
    }

    /// What a delivery needs.
    package init(_ delivery: Delivery) {
        self.init(
            app: delivery.app, user: delivery.user, transactionID: delivery.transactionID,
            environment: delivery.environment, purchase: delivery.purchase, madeAt: delivery.createdAt,
            isByPolicy: delivery.caller == RefundPolicy.caller)
    }

    /// What is known of a case's purchase.
    package init(_ refundCase: RefundCase) {
        self.init(
            app: refundCase.app, user: nil, transactionID: refundCase.transactionID,
            environment: refundCase.environment, purchase: refundCase.purchase)
    }

    /// The same, of a purchase that is known now.
    package func with(_ purchase: PurchaseFacts) -> ConsentSubject {
        ConsentSubject(
            app: app, user: user, transactionID: transactionID, environment: environment ?? purchase.environment,
            purchase: purchase, madeAt: madeAt, isByPolicy: isByPolicy)
    }

    /// The identifiers by which a link can claim the purchase.
    package var linkTargets: [LinkTarget] {
        purchase?.linkTargets ?? [LinkTarget(.transactionId, transactionID)]
    }
}

/// Why an answer must not be sent.
package enum ConsentObjection: Sendable, Equatable {
    /// This user has withdrawn consent: the named one or the owner.
    case withdrawn(UserID)
    /// A user who has been erased had withdrawn consent, and nobody else is known to own the purchase.
    case erased
    /// A guardian took back the consent to a child's use of the app, for the Apple Account of the purchase.
    case rescinded
    /// The app's policy would answer, and no consent of the present owner is on record.
    case notRecorded

    /// The error that tells a caller of it.
    package var error: ServiceError {
        switch self {
        case .withdrawn(let user):
            ServiceError(
                .consentWithdrawn,
                "User `\(user)` has withdrawn consent; nothing about the purchase is sent to Apple until consent is recorded again."
            )
        case .erased:
            ServiceError(
                .consentWithdrawn,
                "The user that this purchase belonged to had withdrawn consent before being erased; nothing is sent to Apple."
            )
        case .rescinded:
            ServiceError(
                .consentWithdrawn,
                "A guardian has rescinded consent for the Apple Account of this purchase; nothing is sent to Apple until consent is recorded with `guardian: true`."
            )
        case .notRecorded:
            ServiceError(
                .consentWithdrawn,
                "A policy answers only while the consent of the purchase's present owner is on record; it is not."
            )
        }
    }
}
