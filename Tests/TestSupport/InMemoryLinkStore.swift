package import Domain
package import Foundation

/// The link port in memory; the contract suite holds it to the same rules as the real store.
package actor InMemoryLinkStore: LinkStore {
    private var links: [Link] = []

    package init() {}

    package func links(app: String, user: UserID) async throws(ServiceError) -> [Link] {
        links.filter { $0.app == app && $0.user == user }
    }

    package func links(app: String, targets: Set<LinkTarget>) async throws(ServiceError) -> [Link] {
        links.filter { $0.app == app && targets.contains($0.target) }
    }

    package func declare(_ statement: Link, transfer: Bool) async throws(ServiceError) -> LinkRules.Decision {
        apply(LinkRules.declare(statement.inMilliseconds, existing: existing(statement), transfer: transfer))
    }

    package func learn(_ statement: Link) async throws(ServiceError) -> LinkRules.Decision {
        apply(LinkRules.learn(statement.inMilliseconds, existing: existing(statement)))
    }

    package func end(
        app: String, user: UserID, target: LinkTarget, at date: Date
    ) async throws(ServiceError) -> [Link] {
        let current = links.filter { $0.app == app && $0.user == user && $0.target == target && $0.isInForce }
        let ended = current.map { $0.ended(at: date.inMilliseconds) }
        for (old, new) in zip(current, ended) { replace(old, with: new) }
        return ended
    }

    package func knownUsers(app: String, matching ids: Set<String>) async throws(ServiceError) -> Set<UserID> {
        let folded = Set(ids.map { $0.lowercased() })
        return Set(
            links.filter { $0.app == app && $0.isInForce && folded.contains($0.user.value.lowercased()) }.map(\.user))
    }

    private func existing(_ statement: Link) -> [Link] {
        links.filter { $0.app == statement.app && $0.target == statement.target }
    }

    private func apply(_ decision: LinkRules.Decision) -> LinkRules.Decision {
        switch decision {
        case .keep, .conflict: break
        case .replace(let old, let new): replace(old, with: new)
        case .insert(let new): links.append(new)
        case .transfer(let old, let date, let new):
            for link in old { replace(link, with: link.ended(at: date)) }
            links.append(new)
        }
        return decision
    }

    private func replace(_ old: Link, with new: Link) {
        if let index = links.firstIndex(of: old) { links[index] = new }
    }
}

extension Link {
    fileprivate func ended(at date: Date) -> Link { with(validUntil: date, createdAt: createdAt) }

    /// The link with its instants as exact as the port keeps them.
    fileprivate var inMilliseconds: Link {
        with(validUntil: validUntil?.inMilliseconds, createdAt: createdAt.inMilliseconds)
    }

    private func with(validUntil: Date?, createdAt: Date) -> Link {
        Link(
            app: app, user: user, target: target, environment: environment, source: source, validFrom: validFrom,
            validUntil: validUntil, createdAt: createdAt, createdBy: createdBy)
    }
}

extension Date {
    fileprivate var inMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}
