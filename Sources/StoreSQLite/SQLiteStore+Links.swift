package import Domain
package import Foundation
import GRDB

extension SQLiteStore: LinkStore {
    package func links(app: String, user: UserID) async throws(ServiceError) -> [Link] {
        try await read("read a user's links") { database in
            try Self.rows(
                database, sql: "SELECT * FROM link WHERE app = ? AND user = ? ORDER BY id",
                arguments: [app, LinkRow.bytes(user)]
            ).map(\.link)
        }
    }

    package func links(app: String, targets: Set<LinkTarget>) async throws(ServiceError) -> [Link] {
        try await read("read links by identifier") { database in
            var rows: [LinkRow] = []
            for (kind, targets) in Dictionary(grouping: targets, by: \.kind) {
                for values in targets.map(\.value).sorted().chunks(of: Self.maximumListLength) {
                    rows += try Self.rows(
                        database,
                        sql: """
                            SELECT * FROM link WHERE app = ? AND kind = ? AND value IN (\(Self.placeholders(values.count)))
                            """,
                        arguments: StatementArguments([app, kind.rawValue] + values))
                }
            }
            return rows.sorted { $0.id < $1.id }.map(\.link)
        }
    }

    package func declare(_ statement: Link, transfer: Bool) async throws(ServiceError) -> LinkRules.Decision {
        try await apply(statement.asStored) { LinkRules.declare($0, existing: $1, transfer: transfer) }
    }

    package func learn(_ statement: Link) async throws(ServiceError) -> LinkRules.Decision {
        try await apply(statement.asStored) { LinkRules.learn($0, existing: $1) }
    }

    package func end(
        app: String, user: UserID, target: LinkTarget, at date: Date
    ) async throws(ServiceError) -> [Link] {
        try await write("end a link") { database in
            try Self.rows(
                database,
                sql: """
                    SELECT * FROM link
                    WHERE app = ? AND kind = ? AND value = ? AND user = ? AND validUntil IS NULL ORDER BY id
                    """,
                arguments: [app, target.kind.rawValue, target.value, LinkRow.bytes(user)]
            ).map { try $0.end(at: date, in: database) }
        }
    }

    package func knownUsers(app: String, matching ids: Set<String>) async throws(ServiceError) -> Set<UserID> {
        guard !ids.isEmpty else { return [] }
        return try await read("look for users") { database in
            var users: Set<UserID> = []
            for folded in Array(Set(ids.map(LinkRow.folded))).chunks(of: Self.maximumListLength) {
                let found = try Data.fetchAll(
                    database,
                    sql: """
                        SELECT DISTINCT user FROM link
                        WHERE app = ? AND validUntil IS NULL AND userFolded IN (\(Self.placeholders(folded.count)))
                        """,
                    arguments: [app] + StatementArguments(folded))
                for bytes in found { users.insert(try LinkRow.user(bytes)) }
            }
            return users
        }
    }
}

extension SQLiteStore {
    /// The most values of one `IN` list.
    static let maximumListLength = 500

    static func placeholders(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ",")
    }

    /// Loads the links of a statement's identifier, asks the rule, and carries out its decision, all in one transaction.
    private func apply(
        _ statement: Link, rule: @escaping @Sendable (_ statement: Link, _ existing: [Link]) -> LinkRules.Decision
    ) async throws(ServiceError) -> LinkRules.Decision {
        try await write("record a link") { database in
            let rows = try Self.rows(database, app: statement.app, target: statement.target)
            let decision = rule(statement, rows.map(\.link))
            switch decision {
            case .keep, .conflict: break
            case .replace(let old, let new):
                for row in rows where row.link == old { try row.replace(with: new, in: database) }
            case .insert(let new): try LinkRow.insert(new, into: database)
            case .transfer(let old, let date, let new):
                for row in rows where old.contains(row.link) { try row.end(at: date, in: database) }
                try LinkRow.insert(new, into: database)
            }
            return decision
        }
    }

    private static func rows(_ database: Database, app: String, target: LinkTarget) throws -> [LinkRow] {
        try rows(
            database, sql: "SELECT * FROM link WHERE app = ? AND kind = ? AND value = ? ORDER BY id",
            arguments: [app, target.kind.rawValue, target.value])
    }

    private static func rows(
        _ database: Database, sql: String, arguments: StatementArguments
    ) throws -> [LinkRow] {
        try Row.fetchAll(database, sql: sql, arguments: arguments).map(LinkRow.init)
    }
}

extension Array {
    /// The array in runs of at most a length.
    func chunks(of length: Int) -> [[Element]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
