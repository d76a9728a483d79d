package import Foundation

// Links that were kept elsewhere until now, taken over in batches.

extension LinkRules {
    /// What an imported link does: it is a declared one that tells of the past as well, so that it ends no link, revives none
    /// and moves none.
    ///
    /// - Parameters:
    ///   - statement: the link as imported. Without a start it holds since the last link of another user ended, or ever.
    ///   - existing: every link of the same app and target, ended ones included.
    /// - Returns: the decision; a `conflict` with a link of the same user means that it has ended since.
    package static func importing(_ statement: Link, existing: [Link]) -> Decision {
        let known = existing.filter { $0.covers(statement.environment) }
        let own = known.filter { $0.user == statement.user }
        let others = known.filter { $0.user != statement.user }
        if let same = own.last(where: { $0.says(statement) }) {
            let environment = same.environment ?? statement.environment
            guard same.isInForce, !same.source.isStated || environment != same.environment else { return .keep(same) }
            return .replace(old: same, new: same.stated(by: statement, environment, from: same.validFrom))
        }
        let ends = others.compactMap(\.validUntil).filter { $0 < statement.validUntil ?? .distantFuture }
        let new = statement.beginning(at: statement.validFrom ?? ends.max())
        if let other = others.first(where: { $0.overlaps(new) }) { return .conflict(other) }
        let overlapping = own.filter { $0.overlaps(new) }
        if let ended = overlapping.first(where: { !$0.isInForce }) { return .conflict(ended) }
        guard let later = overlapping.first else { return .insert(new) }
        let environment = later.environment ?? statement.environment
        return .replace(old: later, new: later.stated(by: statement, environment, from: new.validFrom))
    }
}

extension LinkRules.Decision {
    /// What the decision makes of links that hold all those of its identifier.
    package func applied(to links: [Link]) -> [Link] {
        switch self {
        case .keep, .conflict: links
        case .replace(let old, let new): links.map { $0 == old ? new : $0 }
        case .insert(let new): links + [new]
        case .transfer(let old, let date, let new):
            links.map { old.contains($0) ? $0.ended(at: date) : $0 } + [new]
        }
    }
}

extension LinkService {
    /// The most links of one operation, which bounds how long others wait for the store's one writer.
    package static let maximumImport = 1000

    /// What became of an imported link.
    package enum ImportOutcome: String, Sendable {
        case created
        /// What was known of the same user is now stated, of a known environment, or holds for longer.
        case updated
        case unchanged
    }

    /// A link as it is imported, of what could be read of it; every rule that it breaks is noted.
    ///
    /// `environment`: the identifier's environment; nil when it is not known. `validFrom`: nil for since ever.
    /// `validUntil`: nil for a link in force.
    ///
    /// - Returns: the link; nil without user or identifier.
    package func imported(
        _ target: LinkTarget?, of user: UserID?, app: App, environment: AppStoreEnvironment?, validFrom: Date?,
        validUntil: Date?, _ fields: inout FieldReader
    ) -> Link? {
        let now = now()
        if let target {
            _ = fields.check { () throws(ServiceError) in try Self.check(target) }
            if target.kind == .appAccountToken, app.isTokenIgnored(target.value) {
                fields.note(
                    "value", "ignored",
                    "`\(target.value)` names nobody in app `\(app.slug)`, as the nil UUID and `ignoredTokens` do; leave it out."
                )
            }
        }
        for (name, date) in [("validFrom", validFrom), ("validUntil", validUntil)] {
            guard let date, date > now else { continue }
            fields.note(name, "future", "`\(name)` lies in the future; leave it out of a link that is in force.")
        }
        if let validFrom, let validUntil, validUntil <= validFrom {
            fields.note("validUntil", "order", "`validUntil` must be later than `validFrom`.")
        }
        guard let target, let user else { return nil }
        return Link(
            app: app.slug, user: user, target: target, environment: environment ?? Self.onlyEnvironment(of: app),
            source: .imported, validFrom: validFrom, validUntil: validUntil, createdAt: now, createdBy: "operator")
    }

    /// Takes links over in one operation; the same ones again change nothing.
    ///
    /// `isDryRun`: nothing is changed, and what becomes of each is told as if those before it had been taken over. What stored
    /// notifications would teach by the way is not foreseen.
    ///
    /// - Returns: what became of each, in their order; `linkConflict` names both users.
    /// - Throws: `storeUnavailable`; nothing is changed then.
    package func importLinks(
        _ statements: [Link], app: App, isDryRun: Bool, by actor: Actor
    ) async throws(ServiceError) -> [Result<ImportOutcome, ServiceError>] {
        let decisions =
            isDryRun ? try await foreseen(statements, app: app) : try await store.importLinks(statements)
        let results: [Result<ImportOutcome, ServiceError>] = zip(statements, decisions).map { statement, decision in
            switch decision {
            case .keep: .success(.unchanged)
            case .replace: .success(.updated)
            case .insert, .transfer: .success(.created)
            case .conflict(let known): .failure(Self.conflict(statement, with: known))
            }
        }
        if !isDryRun {
            await audit.settle(
                AuditAct(.linksImported, by: actor, app: app.slug, details: AuditAct.counts(of: results)))
        }
        return results
    }

    private func foreseen(_ statements: [Link], app: App) async throws(ServiceError) -> [LinkRules.Decision] {
        let links = try await store.links(app: app.slug, targets: Set(statements.map(\.target)))
        var known = Dictionary(grouping: links, by: \.target)
        return statements.map { statement in
            let existing = known[statement.target] ?? []
            let decision = LinkRules.importing(statement, existing: existing)
            known[statement.target] = decision.applied(to: existing)
            return decision
        }
    }

    private static func conflict(_ statement: Link, with known: Link) -> ServiceError {
        let target = "`\(statement.target.kind.rawValue)` `\(statement.target.value)`"
        let message =
            known.user == statement.user
            ? "The link of user `\(known.user)` to \(target) has ended since; an import revives none. If it holds again, give a `validFrom` that is not before its end."
            : "\(target) is linked to user `\(known.user)` (\(known.source.rawValue)), not to `\(statement.user)`. If it was moved, give both links `validFrom` and `validUntil`; else correct or remove the line, or declare the link with `?transfer=true`."
        return ServiceError(.linkConflict, message, owner: known.user, user: statement.user)
    }
}

extension LinkSource {
    /// Whether somebody said so, and it was not learnt.
    var isStated: Bool { self == .declared || self == .imported }
}

extension Link {
    /// Whether it tells already what an imported link does.
    fileprivate func says(_ statement: Link) -> Bool {
        let endsLater = validUntil.map { end in statement.validUntil.map { $0 <= end } ?? false } ?? true
        guard let from = statement.validFrom else { return endsLater }
        return endsLater && validFrom ?? .distantPast <= from
    }

    /// Whether there is an instant at which both hold.
    fileprivate func overlaps(_ other: Link) -> Bool {
        validFrom ?? .distantPast < other.validUntil ?? .distantFuture
            && other.validFrom ?? .distantPast < validUntil ?? .distantFuture
    }

    fileprivate func beginning(at date: Date?) -> Link {
        Link(
            app: app, user: user, target: target, environment: environment, source: source, validFrom: date,
            validUntil: validUntil, createdAt: createdAt, createdBy: createdBy)
    }

    /// This link, in force, as an imported one of the same user completes it; what was stated keeps who stated it.
    fileprivate func stated(
        by statement: Link, _ environment: AppStoreEnvironment?, from date: Date?
    ) -> Link {
        let origin = source.isStated ? self : statement
        return Link(
            app: app, user: user, target: target, environment: environment, source: origin.source, validFrom: date,
            validUntil: nil, createdAt: origin.createdAt, createdBy: origin.createdBy)
    }
}
