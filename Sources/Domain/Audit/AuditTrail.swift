/// Keeps what was done, so that it can be proved later.
///
/// Three ways, by what the act can wait for:
///
/// | way | for | when it cannot be kept |
/// | --- | --- | --- |
/// | ``record(_:)``, before the act | what gives power away: handing out tokens and signatures, importing and activating keys | the act does not happen |
/// | ``settle(_:)``, after the act | what takes power away, or must happen anyway: revocations, withdrawals, erasures, releases | the act stands, its record is owed and tried again |
/// | ``note(_:)``, before the act | tokens that this service mints for itself | it goes to a reserve; the mint fails when that is full too |
package protocol AuditTrail: Sendable {
    /// Keeps a record of an act that is about to happen; when it returns, the record outlives a loss of power.
    ///
    /// What fails afterwards is told by a second record.
    /// - Throws: `auditUnavailable`; the act must not happen then.
    func record(_ act: AuditAct) async throws(ServiceError)

    /// Keeps a record of an act that has happened; returns when the record outlives a loss of power, or is owed: kept in
    /// memory and the reserve, and tried again until it is written.
    func settle(_ act: AuditAct) async

    /// Hands over a record and does not wait for it.
    ///
    /// - Throws: `auditUnavailable` when neither the log nor the reserve would take it; the act must not happen then.
    func note(_ act: AuditAct) throws(ServiceError)

    /// The name under which records speak of a user: random, and made at the first asking.
    ///
    /// To be asked for *before* an act that may race with the user's erasure, which forgets it: a name asked for later would be
    /// another, and would outlive the erasure.
    /// - Returns: nil when the store cannot tell it.
    func pseudonym(of user: UserID, app: String) async -> String?

    /// The same, if there is one.
    ///
    /// - Throws: `storeUnavailable`.
    func existingPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String?
}

/// Keeps nothing: for programs that end with their terminal and hand out nothing, since the service alone writes the audit.
package struct UnrecordedAudit: AuditTrail {
    package init() {}

    package func record(_ act: AuditAct) async throws(ServiceError) {}
    package func settle(_ act: AuditAct) async {}
    package func note(_ act: AuditAct) throws(ServiceError) {}
    package func pseudonym(of user: UserID, app: String) async -> String? { nil }
    package func existingPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String? { nil }
}

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
