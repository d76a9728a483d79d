package import Foundation

/// What a user said about sharing consumption information with Apple.
package struct ConsentRecord: Sendable, Equatable {
    package let app: String
    package let user: UserID
    package let isConsented: Bool
    /// Where it was said, in the caller's words, such as `settings-v3`; `RESCIND_CONSENT` when Apple told us.
    package let source: String
    /// When it was said, by the caller's account.
    package let at: Date
    /// When it was recorded here; the latest record by this order decides.
    package let recordedAt: Date
    /// The caller that recorded it; empty for Apple's notification.
    package let recordedBy: String

    package init(
        app: String, user: UserID, isConsented: Bool, source: String, at: Date, recordedAt: Date, recordedBy: String
    ) {
        self.app = app
        self.user = user
        self.isConsented = isConsented
        self.source = source
        self.at = at
        self.recordedAt = recordedAt
        self.recordedBy = recordedBy
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

/// Makes what is left of an erased user's withdrawal: hashes under a key that only this installation has, so that they
/// recognise a user or an identifier but tell neither.
package struct TombstoneHasher: Sendable {
    private let authenticationCode: @Sendable ([UInt8]) -> [UInt8]

    /// `authenticationCode`: HMAC-SHA-256 under the installation's key (RFC 2104).
    package init(authenticationCode: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.authenticationCode = authenticationCode
    }

    /// The hash of a user.
    package func hash(app: String, user: UserID) -> [UInt8] { hash([app, "user", user.value]) }

    /// The hash of an identifier that was linked to an erased user.
    package func hash(app: String, target: LinkTarget) -> [UInt8] { hash([app, target.kind.rawValue, target.value]) }

    /// Each part behind its length, so that no two lists give the same bytes.
    private func hash(_ parts: [String]) -> [UInt8] {
        authenticationCode(parts.flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) })
    }
}
