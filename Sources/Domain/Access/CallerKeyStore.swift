package import Foundation

/// Keeps the public halves of caller keys; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`. Times are kept to the millisecond.
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
