package import Foundation

/// A notification that does not verify as the app's: Apple signed it for another app or environment than our configuration
/// names, or it stands in Apple's history and does not verify at all.
package struct QuarantinedNotification: Sendable, Equatable {
    /// The app in whose name it came.
    package let app: String
    /// What it says of itself.
    package let claims: NotificationClaims
    /// Whether it names the bundle id of a configured app; any other is a stranger's.
    package let namesOurs: Bool
    /// What does not fit, in one sentence without identifiers.
    package let fault: String
    package let source: NotificationSource
    /// When it came first.
    package let receivedAt: Date
    /// When it came last.
    package var lastReceivedAt: Date
    /// When it was last verified anew, in vain; nil as long as it was not.
    package var triedAt: Date?
    /// When it goes, whatever becomes of it: Apple's history does not hold it any more, nor would we.
    package let keptUntil: Date
    /// As Apple signed it (compact JWS).
    package let signed: String

    package init(
        app: String, claims: NotificationClaims = NotificationClaims(), namesOurs: Bool = false, fault: String,
        source: NotificationSource,
        receivedAt: Date, lastReceivedAt: Date? = nil, triedAt: Date? = nil, keptUntil: Date, signed: String
    ) {
        self.app = app
        self.claims = claims
        self.namesOurs = namesOurs
        self.fault = fault
        self.source = source
        self.receivedAt = receivedAt
        self.lastReceivedAt = lastReceivedAt ?? receivedAt
        self.triedAt = triedAt
        self.keptUntil = keptUntil
        self.signed = signed
    }

    /// What makes two of an app the same: the UUID, or the signature where there is none.
    package var identity: String { claims.notificationUUID ?? String(signed.suffix(Self.signatureLength)) }

    /// The characters of an ES256 signature in Base64url (RFC 7518 section 3.4).
    private static let signatureLength = 86
}

/// What a signed notification says of itself; nothing of it is to be believed before the notification is verified.
package struct NotificationClaims: Sendable, Equatable {
    package var notificationUUID: String?
    package var environment: AppStoreEnvironment?
    package var signedAt: Date?
    /// The identifiers of the purchase in it, by which an erasure finds what is a user's; at most one of each kind.
    package var identifiers: Set<LinkTarget> = []

    package init(
        notificationUUID: String? = nil, environment: AppStoreEnvironment? = nil, signedAt: Date? = nil,
        identifiers: Set<LinkTarget> = []
    ) {
        self.notificationUUID = notificationUUID
        self.environment = environment
        self.signedAt = signedAt
        self.identifiers = identifiers
    }
}

/// What a signed notification says it is about, to be compared with the configuration; nothing of it is verified.
package struct NotificationSubject: Sendable, Equatable {
    package var bundleID: String?
    package var appAppleID: Int64?
    /// Apple's `notificationType` and `subtype`.
    package var type: String?
    package var subtype: String?

    package init() {}
}

/// How many notifications are kept that do not verify.
package struct QuarantineBound: Sendable, Equatable {
    package let perApp: Int
    package let inAll: Int
    /// How many of them may be strangers'.
    package let strangersPerApp: Int
    package let strangersInAll: Int

    /// Without a share of their own, strangers may have all places that no other notification needs.
    package init(perApp: Int, inAll: Int, strangersPerApp: Int? = nil, strangersInAll: Int? = nil) {
        self.perApp = perApp
        self.inAll = inAll
        self.strangersPerApp = strangersPerApp ?? perApp
        self.strangersInAll = strangersInAll ?? inAll
    }
}

/// Keeps notifications that do not verify, so that they can be verified anew.
///
/// As in `NotificationStore`, each method is one atomic operation that is on disk when it returns, and throws
/// `storeUnavailable`.
package protocol QuarantineStore: Sendable {
    /// Keeps a notification that does not verify, one of each identity; of one that is kept already, the fault and the time
    /// are taken over, and the source if that is Apple's history. One that is known as a notification is not kept.
    ///
    /// What others sent us and what was found in Apple's history are bounded apart. Of the former, strangers' are removed first,
    /// and only strangers' are removed for a stranger's: the oldest of the app, then the oldest of the app that has most. A
    /// stranger's is refused if there is no room without it. Of the latter the new one is refused, as a later search of the history
    /// finds it again.
    ///
    /// - Parameters:
    ///   - notification: the one to be kept.
    ///   - bound: how many of its kind are kept.
    /// - Returns: what became of it.
    /// - Throws: `storeUnavailable`.
    func quarantine(
        _ notification: QuarantinedNotification, within bound: QuarantineBound
    ) async throws(ServiceError) -> QuarantineReceipt

    /// Those behind a position, oldest first.
    func quarantined(
        after position: Int64, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, notification: QuarantinedNotification)]

    /// Takes note of those that were verified anew, in vain, and of whether they name a configured app's bundle id now.
    func quarantineTried(
        _ tries: [(position: Int64, fault: String, namesOurs: Bool)], at now: Date
    ) async throws(ServiceError)

    /// Records a notification as `NotificationStore.record` does, and removes it from the quarantine; does nothing if it is
    /// not there any more.
    ///
    /// - Parameters:
    ///   - position: where it stands in the quarantine.
    ///   - notification: what it turned out to be.
    /// - Returns: whether it was new.
    /// - Throws: `storeUnavailable`.
    func release(
        _ position: Int64, as notification: StoredNotification
    ) async throws(ServiceError) -> Bool

    /// How many are in quarantine, and when the latest came.
    func quarantineStatus() async throws(ServiceError) -> (count: Int, latest: Date?)
}

/// What became of a notification that does not verify.
package enum QuarantineReceipt: Sendable, Equatable {
    /// It is kept now.
    case new
    /// It was kept before, or is known as a notification.
    case known
    /// There is no room for it.
    case refused
}
