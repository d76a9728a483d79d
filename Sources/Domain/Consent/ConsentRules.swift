/// Decides whether somebody's withdrawal stands against an answer: the one rule behind every way out.
package enum ConsentRules {
    /// What the rule looks at.
    package struct Situation: Sendable {
        /// By the owner rule; nil when nobody is known.
        package var owner: UserID?
        /// The latest record of the named user and of the owner, as far as there are any.
        package var latest: [UserID: ConsentRecord] = [:]
        /// Users among the two whose withdrawal an erasure left behind.
        package var erasedUsers: Set<UserID> = []
        /// Whether one of the purchase's identifiers was linked to an erased user who had withdrawn.
        package var isErasedPurchase = false

        package init() {}
    }

    /// The objection, if there is one.
    ///
    /// A purchase whose owner is known again is judged by that owner, whoever was erased before.
    package static func objection(to subject: ConsentSubject, _ situation: Situation) -> ConsentObjection? {
        for user in [subject.user, situation.owner].compactMap(\.self) {
            if let record = situation.latest[user] {
                if !record.isConsented { return .withdrawn(user) }
            } else if situation.erasedUsers.contains(user) {
                return .withdrawn(user)
            }
        }
        return situation.owner == nil && situation.isErasedPurchase ? .erased : nil
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

    package init(
        app: String, user: UserID?, transactionID: String, environment: AppStoreEnvironment?, purchase: PurchaseFacts?
    ) {
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
            environment: delivery.environment, purchase: delivery.purchase)
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
        }
    }
}
