/// Keeps the names under which the audit speaks of users; every method is one atomic operation.
///
/// A name is random and says nothing of the user; erasing the user forgets it, and nobody can tell afterwards of whom the audit
/// speaks. Every method throws `storeUnavailable`.
package protocol AuditPseudonymStore: Sendable {
    /// The user's name in the audit, made at the first asking.
    func auditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String

    /// The user's name in the audit, if there is one.
    func existingAuditPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String?
}
