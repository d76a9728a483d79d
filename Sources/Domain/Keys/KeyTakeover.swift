package import Foundation

/// A standby key that signs for an app since Apple has refused the one that did, while it took this one.
///
/// It stands until the configuration says otherwise: a restart does not go back to a key that Apple refuses.
package struct KeyTakeover: Sendable, Hashable {
    /// The app's slug.
    package let app: String
    /// The key that Apple refused.
    package let refusedKeyID: String
    /// The key that signs in its place.
    package let keyID: String
    package let at: Date

    package init(app: String, refusedKeyID: String, keyID: String, at: Date) {
        self.app = app
        self.refusedKeyID = refusedKeyID
        self.keyID = keyID
        self.at = at
    }
}

/// Keeps take-overs beyond a restart; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`.
package protocol KeyTakeoverStore: Sendable {
    /// All that are kept, in the order in which they happened.
    func keyTakeovers() async throws(ServiceError) -> [KeyTakeover]

    /// Keeps these, in place of all that are kept; of one app and refused key there is at most one.
    func replaceKeyTakeovers(_ takeovers: [KeyTakeover]) async throws(ServiceError)
}
