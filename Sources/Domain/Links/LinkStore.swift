package import Foundation

/// Keeps links.
///
/// Each method is one atomic operation; what it promises is on disk when it returns.
///
/// Every method throws `storeUnavailable` when the storage cannot be used.
package protocol LinkStore: Sendable {
    /// The links of a user, ended ones included, in the order they were recorded.
    func links(app: String, user: UserID) async throws(ServiceError) -> [Link]

    /// The links of any user to any of these identifiers, ended ones included, in the order they were recorded.
    func links(app: String, targets: Set<LinkTarget>) async throws(ServiceError) -> [Link]

    /// Applies `LinkRules.declare` and returns its decision, carried out.
    func declare(_ statement: Link, transfer: Bool) async throws(ServiceError) -> LinkRules.Decision

    /// Applies `LinkRules.learn` and returns its decision, carried out.
    func learn(_ statement: Link) async throws(ServiceError) -> LinkRules.Decision

    /// Ends the user's links to an identifier that are in force.
    ///
    /// - Returns: the links as ended; empty when there was none.
    func end(app: String, user: UserID, target: LinkTarget, at: Date) async throws(ServiceError) -> [Link]

    /// Which of these ids are users with a link in force or a record of consent, compared without case, as an `appAccountToken` may be a user's id.
    ///
    /// - Returns: the users found.
    func knownUsers(app: String, matching ids: Set<String>) async throws(ServiceError) -> Set<UserID>
}
