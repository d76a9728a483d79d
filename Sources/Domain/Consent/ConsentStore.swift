package import Foundation

/// Keeps what users agreed to, and erases users.
///
/// Each method is one atomic operation; what it promises is on disk when it returns, and whatever it changes is told in the
/// events of the same operation. Every method throws `storeUnavailable`. Times of day are whole milliseconds, as
/// `ServiceClock` tells them, so that what is returned equals what is read afterwards.
package protocol ConsentStore: Sendable {
    /// Records what a user said; a withdrawal also cancels the deliveries that it stands against.
    ///
    /// Those are the deliveries of the user: named by it, of its cases, or of purchases that are its own by the owner rule.
    /// A consent that follows an erasure removes what the erasure left behind; one that a guardian gave lifts what a
    /// guardian rescinded before.
    ///
    /// - Returns: what the withdrawal did to deliveries.
    /// - Throws: `storeUnavailable`.
    func recordConsent(_ record: ConsentRecord) async throws(ServiceError) -> EndedDeliveries

    /// Every record of a user, oldest first.
    func consentHistory(app: String, user: UserID) async throws(ServiceError) -> [ConsentRecord]

    /// The owner of what an answer is about, by `OwnerRule`, in one consistent look at links and users.
    func owner(of subject: ConsentSubject) async throws(ServiceError) -> UserID?

    /// What guardians rescinded for the Apple Accounts of a user and nobody has lifted since, latest last.
    func rescissions(app: String, user: UserID) async throws(ServiceError) -> [GuardianRescission]

    /// Removes what is known of a user, and cancels its deliveries.
    ///
    /// - Returns: what was removed and what stays; the user is removed also where ``ErasureReport/remains`` says that it is not
    ///   out of every file yet.
    /// - Throws: `storeUnavailable`; nothing is removed then.
    func eraseUser(app: String, user: UserID, at now: Date) async throws(ServiceError) -> ErasureReport
}

/// A guardian's withdrawal of a child's use of the app, for one Apple Account.
package struct GuardianRescission: Sendable, Equatable {
    package let environment: AppStoreEnvironment
    /// When Apple signed it.
    package let at: Date

    package init(environment: AppStoreEnvironment, at: Date) {
        self.environment = environment
        self.at = at
    }
}

/// What an erasure removed, and what stays.
package struct ErasureReport: Sendable, Equatable {
    package let links: Int
    package let consentRecords: Int
    /// Deliveries that were cancelled.
    package let cancelled: [Delivery]
    /// Deliveries that are being sent at this moment; their end is asked for.
    package var sending: [Delivery]
    /// Deliveries whose user and content were removed, those cancelled included.
    package let deliveries: Int
    /// Cases whose owner was removed.
    package let cases: Int
    /// Notifications whose user was removed; Apple's signed content stays for the retention time.
    package let notifications: Int
    /// Receipts from which the user, and what was sent for the user, was removed.
    package let receipts: Int
    /// Reports of usage that were removed.
    package let usage: Int
    /// What Apple had answered about purchases, which was removed.
    package let answers: Int
    /// Events from which the user was removed.
    package let events: Int
    /// Whether keyed hashes were left so that the user's withdrawal outlives the erasure.
    package let isWithdrawalKept: Bool
    /// Whether a guardian's rescission stays, as a keyed hash of an Apple Account that was the user's.
    package let isRescissionKept: Bool
    /// Why what was removed may still stand in the write-ahead log; nil when it does not.
    package var remains: ServiceError?

    package init(
        links: Int, consentRecords: Int, cancelled: [Delivery], sending: [Delivery], deliveries: Int, cases: Int,
        notifications: Int, receipts: Int = 0, usage: Int = 0, answers: Int = 0, events: Int, isWithdrawalKept: Bool,
        isRescissionKept: Bool = false
    ) {
        self.isRescissionKept = isRescissionKept
        self.links = links
        self.consentRecords = consentRecords
        self.cancelled = cancelled
        self.sending = sending
        self.deliveries = deliveries
        self.cases = cases
        self.notifications = notifications
        self.receipts = receipts
        self.usage = usage
        self.answers = answers
        self.events = events
        self.isWithdrawalKept = isWithdrawalKept
    }
}

/// What a user said about sharing consumption information with Apple.
package struct ConsentRecord: Sendable, Equatable {
    package let app: String
    package let user: UserID
    package let isConsented: Bool
    /// Where it was said, in the caller's words, such as `settings-v3`; `RESCIND_CONSENT` in records of earlier versions.
    package let source: String
    /// When it was said, by the caller's account.
    package let at: Date
    /// When it was recorded here; the latest record by this order decides.
    package let recordedAt: Date
    /// The caller that recorded it; empty for Apple's notification.
    package let recordedBy: String
    /// Which wording the user saw, as dotted numbers; nil where the caller did not say.
    package let wordingVersion: String?
    /// The language of the wording (RFC 5646); nil where the caller did not say.
    package let locale: String?
    /// Whether a guardian said it for a child.
    package let isByGuardian: Bool

    package init(
        app: String, user: UserID, isConsented: Bool, source: String, at: Date, recordedAt: Date, recordedBy: String,
        wordingVersion: String? = nil, locale: String? = nil, isByGuardian: Bool = false
    ) {
        self.wordingVersion = wordingVersion
        self.locale = locale
        self.isByGuardian = isByGuardian
        self.app = app
        self.user = user
        self.isConsented = isConsented
        self.source = source
        self.at = at
        self.recordedAt = recordedAt
        self.recordedBy = recordedBy
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

    /// The hash of an Apple Account that a guardian rescinded consent for.
    package func hash(app: String, environment: AppStoreEnvironment, appTransactionID: String) -> [UInt8] {
        hash([app, "account", environment.rawValue, appTransactionID])
    }

    /// The hash of an identifier that was linked to an erased user.
    package func hash(app: String, target: LinkTarget) -> [UInt8] { hash([app, target.kind.rawValue, target.value]) }

    /// Each part behind its length, so that no two lists give the same bytes.
    private func hash(_ parts: [String]) -> [UInt8] {
        authenticationCode(parts.flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) })
    }
}
