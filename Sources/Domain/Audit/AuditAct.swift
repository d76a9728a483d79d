/// Something that was done and that must be provable later: what one record of the audit says.
///
/// It holds no secret: a token is named by its SHA-256, a user by a pseudonym.
package struct AuditAct: Sendable, Equatable {
    /// What was done; the raw value is what records and filters name.
    package enum Action: String, Sendable, CaseIterable {
        // What is signed.
        /// A token for Apple was signed for this service's own calls.
        case tokenMinted
        /// How often a token was used for calls since it was last told.
        case tokenUsed
        /// A token for Apple was given to a caller.
        case tokenHandedOut
        /// A request to StoreKit was signed for a caller.
        case signatureMade
        // Keys.
        case keyImported
        case keyChecked
        case keyActivated
        case keyRetired
        case keyRevoked
        case keyDeleted
        /// A standby key signs in the place of one that Apple refuses.
        case keyTookOver
        /// Secrets were sealed under another master key.
        case masterKeyChanged
        /// The service starts without a master key that something is sealed under, since an operator accepted its loss.
        case masterKeyLossAccepted
        // Callers.
        case callerAdded
        case callerChanged
        case callerRevoked
        case callerCredentialIssued
        case callerCredentialRevoked
        // Who is told what happens.
        case callbackAdded
        case callbackChanged
        case callbackReplayed
        case callbackSecretRotated
        case callbackRemoved
        // Users.
        case consentRecorded
        case userErased
        /// Everything that is kept of a user was given out.
        case userExported
        // Operators' acts, and the service's own.
        case sendingReleased
        case linksImported
        case receiptsImported
        case storeBackedUp
        case serviceStarted
        case serviceStopped
        case configurationLoaded
        // Who was turned away.
        case authenticationFailed
        /// How many more attempts failed than were recorded one by one.
        case authenticationFailuresCounted
    }

    /// Length of SHA-256, in bytes.
    static let tokenDigestCount = 32

    package let action: Action
    package let actor: Actor
    /// The app's slug.
    package var app: String?
    /// The key that signs, or that the act is about: Apple's key id.
    package var keyID: String?
    /// The caller that the act is about, where it is not the actor.
    package var caller: String?
    /// Who the act is about: see ``AuditTrail/pseudonym(of:app:)``.
    package var pseudonym: String?
    /// SHA-256 of the token or signature, 32 bytes.
    package var tokenDigest: [UInt8]?
    /// What else is to be known, by name; no personal data, and nothing secret.
    package var details: [String: String]

    package init(
        _ action: Action, by actor: Actor, app: String? = nil, keyID: String? = nil, caller: String? = nil,
        pseudonym: String? = nil, tokenDigest: [UInt8]? = nil, details: [String: String] = [:]
    ) {
        self.action = action
        self.actor = actor
        self.app = app
        self.keyID = keyID
        self.caller = caller
        self.pseudonym = pseudonym
        self.tokenDigest = tokenDigest
        self.details = details
    }
}

extension AuditAct {
    /// How many elements of an import came to what, as details: outcomes by their names, and those that were refused.
    static func counts<Outcome: RawRepresentable<String>>(
        of results: [Result<Outcome, ServiceError>]
    ) -> [String: String] {
        let names = results.map { (try? $0.get().rawValue) ?? "refused" }
        return Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).mapValues(String.init)
    }
}
