package import Foundation

/// A key with which a caller signs tokens of its own, as Apple's libraries do; only its public half is known here.
package struct CallerKey: Sendable, Hashable {
    /// Length of a key id, in characters.
    package static let idLength = 10

    /// Ten capital letters and digits, like Apple's key ids: the `kid` of the caller's tokens.
    package let id: String
    /// The name of the caller that it was issued to.
    package let caller: String
    /// The slug of the one app that it is for.
    package let app: String
    /// The SubjectPublicKeyInfo in DER (RFC 5480).
    package let publicKey: [UInt8]
    /// What its bearer may do; nil for a caller of the configuration, which then tells.
    package let scopes: Set<Scope>?
    package let createdAt: Date
    /// When it ceased to be valid, if it did.
    package let revokedAt: Date?

    package init(
        id: String, caller: String, app: String, publicKey: [UInt8], scopes: Set<Scope>?, createdAt: Date,
        revokedAt: Date? = nil
    ) {
        self.id = id
        self.caller = caller
        self.app = app
        self.publicKey = publicKey
        self.scopes = scopes
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    /// Draws an id at random; it is no secret.
    package static func randomID() -> String {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String((0..<idLength).compactMap { _ in characters.randomElement() })
    }

    /// Whether a text can be the id of a key.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count == idLength
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: false
                }
            }
    }

    /// The same key, revoked.
    package func revoked(at date: Date) -> CallerKey {
        CallerKey(
            id: id, caller: caller, app: app, publicKey: publicKey, scopes: scopes, createdAt: createdAt,
            revokedAt: date)
    }
}

/// Keeps the public halves of caller keys; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`. Times of day are whole milliseconds, as `ServiceClock` tells them.
package protocol CallerKeyStore: Sendable {
    /// Keeps a new key.
    ///
    /// - Returns: false, with nothing changed, when its id is taken.
    func addCallerKey(_ key: CallerKey) async throws(ServiceError) -> Bool

    /// The key with this id, revoked or not.
    func callerKey(id: String) async throws(ServiceError) -> CallerKey?

    /// Every key, revoked ones included, in the order of issue.
    func callerKeys() async throws(ServiceError) -> [CallerKey]

    /// Revokes a caller's key; one that is revoked already keeps its time.
    ///
    /// - Returns: the key as it is now; nil when the caller has no such key.
    func revokeCallerKey(id: String, caller: String, at date: Date) async throws(ServiceError) -> CallerKey?
}
