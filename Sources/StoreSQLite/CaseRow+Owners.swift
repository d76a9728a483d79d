import Domain
import GRDB

extension CaseRow {
    /// Gives the open cases that these identifiers name their owner anew, by the owner rule.
    ///
    /// After a change of links: name the links' targets, and as an `appAccountToken` each user who gained or lost one, since
    /// the token may be a user's id.
    static func refreshOwners(app: String, targets: Set<LinkTarget>, in database: Database) throws {
        var ids: Set<String> = []
        for target in targets {
            // One statement for each kind, so that each finds its partial index.
            let statement = try database.cachedStatement(
                sql: """
                    SELECT id FROM refundCase WHERE app = ? AND \(target.kind.rawValue) = ? AND state = 'open'
                    """)
            ids.formUnion(try String.fetchSet(statement, arguments: [app, target.value]))
        }
        for id in ids {
            guard let refundCase = try fetch(app: app, id: id, from: database) else { continue }
            let owner = try OwnerQuery.owner(of: refundCase.purchase, app: app, in: database)
            guard owner != refundCase.owner else { continue }
            try database.cachedStatement(sql: "UPDATE refundCase SET owner = ? WHERE id = ?")
                .execute(arguments: [owner.map(LinkRow.bytes), id])
        }
    }
}
