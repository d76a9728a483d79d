import Foundation

/// Finds out what a verified notification teaches of users.
struct LinkInference: Sendable {
    /// How many identifiers of an Apple Account are looked at to find its users.
    static let maximumIdentifiers = 1000

    let links: any LinkStore
    let memory: any TransactionMemory

    /// The links that a notification's transaction proves.
    ///
    /// Only the signed `appAccountToken` proves anything, and only if it is linked or itself a user's id. An Apple Account
    /// may serve several users: the first one has its link, as a learnt link never overrides another one.
    /// What is shared in a family is bought by one account and used by another, so that it proves nothing.
    ///
    /// - Returns: the links, to be learnt.
    /// - Throws: `storeUnavailable`.
    func links(in stored: StoredNotification, at now: Date) async throws(ServiceError) -> [Link] {
        guard let purchase = stored.notification.transaction?.facts, !purchase.isFamilyShared,
            let token = purchase.appAccountToken
        else { return [] }
        // Knowing the token's links alone, the rule can only judge by them.
        let rule = OwnerRule(
            links: try await links.links(app: stored.app, targets: [LinkTarget(.appAccountToken, token)]),
            users: try await links.knownUsers(app: stored.app, matching: [token]))
        guard let user = rule.owner(of: purchase) else { return [] }
        return purchase.linkTargets.filter { $0.kind != .appAccountToken }.map { target in
            Link(
                app: stored.app, user: user, target: target, environment: purchase.environment, source: .signedData,
                validFrom: nil, validUntil: nil, createdAt: now, createdBy: "")
        }
    }

    /// The users of an Apple Account: those linked to it, and those linked to one of its transactions, as one account may
    /// serve several users.
    ///
    /// - Throws: `storeUnavailable`.
    func users(
        of appTransactionID: String, app: String, _ environment: AppStoreEnvironment
    ) async throws(ServiceError) -> Set<UserID> {
        let identifiers = try await memory.identifiers(
            of: appTransactionID, app: app, environment: environment, limit: Self.maximumIdentifiers)
        var targets: Set = [LinkTarget(.appTransactionId, appTransactionID)]
        for identifier in identifiers {
            targets.insert(LinkTarget(.transactionId, identifier))
            targets.insert(LinkTarget(.originalTransactionId, identifier))
        }
        let found = try await links.links(app: app, targets: targets)
        return Set(found.filter { $0.isInForce && $0.covers(environment) }.map(\.user))
    }
}
