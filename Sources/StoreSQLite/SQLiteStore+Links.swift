package import Domain
package import Foundation
import GRDB

extension SQLiteStore: LinkStore {
    package func links(app: String, user: UserID) async throws(ServiceError) -> [Link] {
        try await read("read a user's links") { database in
            try LinkRow.list(
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
                    rows += try LinkRow.list(
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
        try await write("record a link") { try LinkRow.declare(statement, transfer: transfer, in: $0) }
    }

    package func learn(_ statement: Link) async throws(ServiceError) -> LinkRules.Decision {
        try await write("record a link") { try LinkRow.learn(statement, in: $0) }
    }

    package func end(
        app: String, user: UserID, target: LinkTarget, at date: Date
    ) async throws(ServiceError) -> [Link] {
        try await write("end a link") { database in
            try LinkRow.end(app: app, user: user, target: target, at: date, in: database)
        }
    }

    package func knownUsers(app: String, matching ids: Set<String>) async throws(ServiceError) -> Set<UserID> {
        guard !ids.isEmpty else { return [] }
        return try await read("look for users") { database in
            var users: Set<UserID> = []
            for folded in Array(Set(ids.map(LinkRow.folded))).chunks(of: Self.maximumListLength) {
                let found = try Data.fetchAll(
                    database,
                    sql: OwnerQuery.usersByFoldedID(count: folded.count),
                    arguments: [app] + StatementArguments(folded) + [app] + StatementArguments(folded))
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
}

extension Array {
    /// The array in runs of at most a length.
    func chunks(of length: Int) -> [[Element]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
