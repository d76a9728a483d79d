import Domain
import Foundation
import GRDB

/// Whose purchase is it, by `OwnerRule`, from the links as one transaction sees them.
enum OwnerQuery {
    /// The owner of a purchase, if any is known.
    static func owner(of purchase: PurchaseFacts, app: String, in database: Database) throws -> UserID? {
        let links = try links(app: app, to: purchase.linkTargets, in: database)
        let users = try purchase.appAccountToken.map { try knownUsers(app: app, $0, in: database) } ?? []
        return OwnerRule(links: links, users: users).owner(of: purchase)
    }

    /// The owner of what an answer is about, if any is known.
    ///
    /// As long as nothing is known of the purchase, the links of its transaction id tell.
    static func owner(of subject: ConsentSubject, in database: Database) throws -> UserID? {
        if let purchase = subject.purchase { return try owner(of: purchase, app: subject.app, in: database) }
        return try links(app: subject.app, to: subject.linkTargets, in: database)
            .last { $0.isInForce && $0.covers(subject.environment) }?.user
    }

    /// The links to these identifiers, ended ones included, in the order they were recorded.
    private static func links(app: String, to targets: [LinkTarget], in database: Database) throws -> [Link] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM link WHERE app = ? AND kind = ? AND value = ? ORDER BY id")
        return try targets.flatMap { target in
            try Row.fetchAll(statement, arguments: [app, target.kind.rawValue, target.value])
                .map { try LinkRow($0).link }
        }
    }

    /// The users with a link in force or a record of consent whose id is this one, compared without case.
    private static func knownUsers(app: String, _ id: String, in database: Database) throws -> Set<UserID> {
        let folded = LinkRow.folded(id)
        let statement = try database.cachedStatement(sql: usersByFoldedID(count: 1))
        return Set(try Data.fetchAll(statement, arguments: [app, folded, app, folded]).map(LinkRow.user))
    }

    /// The query for known users: its arguments are the app and the folded ids, twice.
    static func usersByFoldedID(count: Int) -> String {
        let list = SQLiteStore.placeholders(count)
        return """
            SELECT user FROM link WHERE app = ? AND validUntil IS NULL AND userFolded IN (\(list))
            UNION SELECT user FROM consent WHERE app = ? AND userFolded IN (\(list))
            """
    }
}
