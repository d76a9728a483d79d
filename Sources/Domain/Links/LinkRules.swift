package import Foundation

/// Decides what a new statement does to the links that already point at the same identifier.
///
/// Pure, so that every store gives the same answers: a store loads the links of the target, asks here, and applies the
/// decision within one transaction.
package enum LinkRules {
    /// What a store must do.
    package enum Decision: Sendable, Equatable {
        /// The same statement stands already.
        case keep(Link)
        /// Put `new` in the place of `old` (same user; a learnt link declared, or an environment filled in).
        case replace(old: Link, new: Link)
        /// Record a new link.
        case insert(Link)
        /// End the old links at `at`, then record the new one.
        case transfer(old: [Link], at: Date, new: Link)
        /// Another user has it.
        case conflict(Link)
    }

    /// What a caller's declaration does.
    ///
    /// - Parameters:
    ///   - statement: the link as declared; its `validFrom` and `validUntil` are ignored.
    ///   - existing: every link of the same app and target, ended ones included.
    ///   - transfer: whether a link of another user is ended in favour of this one.
    /// - Returns: the decision; a link of another user is a conflict unless it is transferred.
    package static func declare(_ statement: Link, existing: [Link], transfer: Bool) -> Decision {
        let current = existing.filter { $0.isInForce && $0.covers(statement.environment) }
        if let own = current.first(where: { $0.user == statement.user }) {
            let environment = own.environment ?? statement.environment
            if own.source.isStated, own.environment == environment { return .keep(own) }
            return .replace(
                old: own,
                new: statement.with(environment: environment, validFrom: own.validFrom))
        }
        guard let other = current.first else {
            return .insert(statement.with(environment: statement.environment, validFrom: lastEnd(existing, statement)))
        }
        guard transfer else { return .conflict(other) }
        return .transfer(
            old: current, at: statement.createdAt,
            new: statement.with(environment: statement.environment, validFrom: statement.createdAt))
    }

    /// What a learnt link does: it never overrides a link in force of another user.
    package static func learn(_ statement: Link, existing: [Link]) -> Decision {
        let current = existing.filter { $0.isInForce && $0.covers(statement.environment) }
        if let other = current.first(where: { $0.user != statement.user }) { return .conflict(other) }
        if let own = current.first {
            guard own.environment == nil, statement.environment != nil else { return .keep(own) }
            return .replace(old: own, new: own.with(environment: statement.environment, validFrom: own.validFrom))
        }
        return .insert(statement.with(environment: statement.environment, validFrom: lastEnd(existing, statement)))
    }

    /// The links that a purchase which Apple signed proves, given whom its token names.
    ///
    /// Only the signed `appAccountToken` proves anything. An Apple Account may serve several users: the first one has its
    /// link, as a learnt link never overrides another one. What is shared in a family is bought by one account and used by
    /// another, so that it proves nothing.
    ///
    /// `isAccountTaught`: whether the Apple Account is linked too; not by what somebody reads, as others of the account whose
    /// tokens name nobody yet would then be that user's.
    package static func taught(
        by purchase: PurchaseFacts, of user: UserID, app: String, isAccountTaught: Bool = true, at now: Date
    ) -> [Link] {
        guard !purchase.isFamilyShared else { return [] }
        let kinds: Set<LinkTarget.Kind> =
            isAccountTaught
            ? [.transactionId, .originalTransactionId, .appTransactionId] : [.transactionId, .originalTransactionId]
        return purchase.linkTargets.filter { kinds.contains($0.kind) }.map { target in
            Link(
                app: app, user: user, target: target, environment: purchase.environment, source: .signedData,
                validFrom: nil, validUntil: nil, createdAt: now, createdBy: "")
        }
    }

    /// A link begins where the last one of the same identifier ended, so that no two hold at once.
    private static func lastEnd(_ existing: [Link], _ statement: Link) -> Date? {
        existing.filter { $0.covers(statement.environment) }.compactMap(\.validUntil).max()
    }
}

extension Link {
    /// This link, in force, with another environment and start.
    fileprivate func with(environment: AppStoreEnvironment?, validFrom: Date?) -> Link {
        Link(
            app: app, user: user, target: target, environment: environment, source: source, validFrom: validFrom,
            validUntil: nil, createdAt: createdAt, createdBy: createdBy)
    }
}
