import Domain
import Foundation
import GRDB

extension LinkRow {
    /// Applies `LinkRules.declare` and carries its decision out.
    static func declare(
        _ statement: Link, transfer: Bool, in database: Database
    ) throws -> LinkRules.Decision {
        try apply(statement.asStored, in: database) { LinkRules.declare($0, existing: $1, transfer: transfer) }
    }

    /// Applies `LinkRules.learn` and carries its decision out.
    @discardableResult
    static func learn(_ statement: Link, in database: Database) throws -> LinkRules.Decision {
        try apply(statement.asStored, in: database) { LinkRules.learn($0, existing: $1) }
    }

    /// Ends the user's links to an identifier that are in force.
    ///
    /// - Returns: the links as ended.
    static func end(
        app: String, user: UserID, target: LinkTarget, at date: Date, in database: Database
    ) throws -> [Link] {
        let ended = try list(
            database,
            sql: """
                SELECT * FROM link
                WHERE app = ? AND kind = ? AND value = ? AND user = ? AND validUntil IS NULL ORDER BY id
                """,
            arguments: [app, target.kind.rawValue, target.value, bytes(user)]
        ).map { try $0.end(at: date, in: database) }
        if !ended.isEmpty { try refreshOwners(of: ended, in: database) }
        return ended
    }

    /// The links that a query for all columns gives.
    static func list(_ database: Database, sql: String, arguments: StatementArguments) throws -> [LinkRow] {
        try Row.fetchAll(database, sql: sql, arguments: arguments).map(LinkRow.init)
    }

    /// Loads the links of a statement's identifier, asks the rule, and carries out its decision.
    private static func apply(
        _ statement: Link, in database: Database, rule: (_ statement: Link, _ existing: [Link]) -> LinkRules.Decision
    ) throws -> LinkRules.Decision {
        let rows = try list(
            database, sql: "SELECT * FROM link WHERE app = ? AND kind = ? AND value = ? ORDER BY id",
            arguments: [statement.app, statement.target.kind.rawValue, statement.target.value])
        let decision = rule(statement, rows.map(\.link))
        switch decision {
        case .keep, .conflict: return decision
        case .replace(let old, let new):
            for row in rows where row.link == old { try row.replace(with: new, in: database) }
            try refreshOwners(of: [new], in: database)
        case .insert(let new):
            try insert(new, into: database)
            try refreshOwners(of: [new], in: database)
        case .transfer(let old, let date, let new):
            for row in rows where old.contains(row.link) { try row.end(at: date, in: database) }
            try insert(new, into: database)
            try refreshOwners(of: old + [new], in: database)
        }
        return decision
    }

    /// Open cases that these links speak of get their owner anew.
    ///
    /// A user with a link is known by its id as well, which may be the `appAccountToken` of purchases.
    private static func refreshOwners(of links: [Link], in database: Database) throws {
        for (app, links) in Dictionary(grouping: links, by: \.app) {
            let users = links.map { LinkTarget(.appAccountToken, $0.user.value) }
            try CaseRow.refreshOwners(app: app, targets: Set(links.map(\.target) + users), in: database)
        }
    }
}
