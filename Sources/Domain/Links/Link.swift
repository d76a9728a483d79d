package import Foundation

/// What a link points at: one of Apple's identifiers.
package struct LinkTarget: Sendable, Hashable {
    /// Which identifier it is; the raw values are Apple's field names.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case transactionId
        case originalTransactionId
        case appTransactionId
        case appAccountToken
    }

    package let kind: Kind
    /// The identifier; an `appAccountToken` in lower case, as Apple's copy may differ in case.
    package let value: String

    package init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = kind == .appAccountToken ? value.lowercased() : value
    }

    /// Whether Apple can be asked about this identifier: every kind but an `appAccountToken`.
    package var isAskable: Bool { kind != .appAccountToken }
}

/// Where a link comes from.
package enum LinkSource: String, Sendable, Hashable {
    /// A caller with `links:write` said so.
    case declared
    /// An operator took it over from where links were kept before; counts as declared.
    case imported = "import"
    /// Apple accepted a consumption call that named the user.
    case consumption
    /// A notification or transaction that Apple signed names both.
    case signedData
    /// An app sent its receipt for the user, and Apple confirmed it.
    case receipt
}

/// A statement that one of Apple's identifiers belongs to a user, from when until when.
package struct Link: Sendable, Hashable {
    package let app: String
    package let user: UserID
    package let target: LinkTarget
    /// The environment of the identifier; nil until it is known.
    package let environment: AppStoreEnvironment?
    package let source: LinkSource
    /// Start of validity, inclusive; nil means since ever.
    package let validFrom: Date?
    /// End of validity, exclusive; nil means that the link is in force.
    package let validUntil: Date?
    /// When this service recorded it.
    package let createdAt: Date
    /// The caller that declared it or whose call taught it.
    package let createdBy: String

    package init(
        app: String, user: UserID, target: LinkTarget, environment: AppStoreEnvironment?, source: LinkSource,
        validFrom: Date?, validUntil: Date?, createdAt: Date, createdBy: String
    ) {
        self.app = app
        self.user = user
        self.target = target
        self.environment = environment
        self.source = source
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.createdAt = createdAt
        self.createdBy = createdBy
    }

    /// Whether the link is in force now: not ended.
    package var isInForce: Bool { validUntil == nil }

    /// The link as it is once it has ended.
    package func ended(at date: Date) -> Link {
        Link(
            app: app, user: user, target: target, environment: environment, source: source, validFrom: validFrom,
            validUntil: date, createdAt: createdAt, createdBy: createdBy)
    }

    /// Whether the link held at an instant.
    package func isValid(at instant: Date) -> Bool {
        if let validFrom, instant < validFrom { return false }
        if let validUntil, instant >= validUntil { return false }
        return true
    }

    /// Whether the link can speak of identifiers in an environment: the same one, or either is not known yet.
    package func covers(_ environment: AppStoreEnvironment?) -> Bool {
        self.environment == nil || environment == nil || self.environment == environment
    }
}

/// Keeps links.
///
/// Each method is one atomic operation; what it promises is on disk when it returns.
///
/// Every method throws `storeUnavailable` when the storage cannot be used. Times of day are whole milliseconds, as
/// `ServiceClock` tells them, so that what is returned equals what is read afterwards.
package protocol LinkStore: Sendable {
    /// The links of a user, ended ones included, in the order they were recorded.
    func links(app: String, user: UserID) async throws(ServiceError) -> [Link]

    /// The links of any user to any of these identifiers, ended ones included, in the order they were recorded.
    func links(app: String, targets: Set<LinkTarget>) async throws(ServiceError) -> [Link]

    /// Applies `LinkRules.declare` and returns its decision, carried out.
    func declare(_ statement: Link, transfer: Bool) async throws(ServiceError) -> LinkRules.Decision

    /// Applies `LinkRules.learn` and returns its decision, carried out.
    func learn(_ statement: Link) async throws(ServiceError) -> LinkRules.Decision

    /// Applies `LinkRules.importing` to one statement after the other and returns the decisions, carried out: the end is that
    /// of as many operations, and all of it is one.
    func importLinks(_ statements: [Link]) async throws(ServiceError) -> [LinkRules.Decision]

    /// Ends the user's links to an identifier that are in force.
    ///
    /// - Returns: the links as ended; empty when there was none.
    func end(app: String, user: UserID, target: LinkTarget, at: Date) async throws(ServiceError) -> [Link]

    /// Records what Apple signed about transactions that were read: the newest token of each, and the links that it proves.
    ///
    /// What is known already costs no write.
    func learn(from transactions: [Transaction], app: String, at now: Date) async throws(ServiceError)

    /// Records that Apple accepted an `appAccountToken` for a purchase: a fact of a one-time purchase, and of the renewal of a
    /// subscription that is current then and of later ones.
    func recordToken(
        _ appAccountToken: String, of originalTransactionID: String, app: String, environment: AppStoreEnvironment,
        at now: Date
    ) async throws(ServiceError)

    /// Which of these ids are users with a link in force or a record of consent, compared without case, as an `appAccountToken` may be a user's id.
    ///
    /// - Returns: the users found.
    func knownUsers(app: String, matching ids: Set<String>) async throws(ServiceError) -> Set<UserID>
}
