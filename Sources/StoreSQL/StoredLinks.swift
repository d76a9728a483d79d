package import Domain
package import Foundation

extension SQLStore {
    package func links(app: String, user: UserID) async throws(ServiceError) -> [Link] {
        try await read("read a user's links") { database in
            let links = try LinkRow.list(of: user, app: app, from: database).map(\.link)
            guard links.isEmpty else { return links }
            return try LinkRow.taughtByNotifications(of: user, app: app, from: database)
        }
    }

    package func links(app: String, targets: Set<LinkTarget>) async throws(ServiceError) -> [Link] {
        try await read("read links by identifier") { database in
            var rows: [LinkRow] = []
            for (kind, targets) in Dictionary(grouping: targets, by: \.kind) {
                for values in targets.map(\.value).sorted().chunks(of: SQLList.maximumLength) {
                    // Of any number of values: not worth a place among the statements that are kept.
                    let statement = try database.makeStatement(
                        sql: """
                            SELECT * FROM link WHERE app = ? AND kind = ? AND value IN (\(SQLList.placeholders(values.count)))
                            """)
                    rows += try LinkRow.list(statement, SQLArguments([app, kind.rawValue] + values))
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

    package func learn(
        from transactions: [Transaction], app: String, at now: Date
    ) async throws(ServiceError) {
        let named = transactions.filter { $0.appAccountToken != nil }
        guard !named.isEmpty else { return }
        let isNew = try await read("look for what transactions teach") { database in
            try named.contains { try !LinkRow.isLearnt($0, app: app, in: database) }
        }
        guard isNew else { return }
        try await write("learn from transactions that were read") { database in
            try LinkRow.learn(from: named, app: app, at: now, in: database)
        }
    }

    package func recordToken(
        _ appAccountToken: String, of originalTransactionID: String, app: String, environment: AppStoreEnvironment,
        at now: Date
    ) async throws(ServiceError) {
        try await write("record a token") { database in
            try PurchaseTokenRow.recordAccepted(
                appAccountToken, of: originalTransactionID, app: app, environment, at: now, in: database)
        }
    }

    package func importLinks(_ statements: [Link]) async throws(ServiceError) -> [LinkRules.Decision] {
        try await write("import links") { database in
            // One after the other, as what one teaches from notifications is known to the next.
            try statements.map { try LinkRow.importLink($0, in: database) }
        }
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
            for folded in Array(Set(ids.map(LinkRow.folded))).chunks(of: SQLList.maximumLength) {
                let found = try Data.fetchAll(
                    database,
                    sql: OwnerQuery.usersByFoldedID(count: folded.count),
                    arguments: [app] + SQLArguments(folded) + [app] + SQLArguments(folded))
                for bytes in found { users.insert(try LinkRow.user(bytes)) }
            }
            return users
        }
    }
}

/// A link as it stands in its table.
struct LinkRow: Sendable {
    let id: Int64
    let link: Link

    /// Reads a row with all columns.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(_ row: SQLRow) throws {
        id = try row.value("id")
        link = Link(
            app: try row.value("app"), user: try Self.user(row.value("user")),
            target: LinkTarget(try row.known("kind"), try row.value("value")),
            environment: try row.knownIfPresent("environment"), source: try row.known("source"),
            validFrom: try row.dateIfPresent("validFrom"), validUntil: try row.dateIfPresent("validUntil"),
            createdAt: try row.date("createdAt"), createdBy: try row.value("createdBy"))
    }

    static func insert(_ link: Link, into database: SQLDatabase) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO link
                    (app, user, kind, value, environment, source, validFrom, validUntil, createdAt, createdBy, userFolded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(
            arguments: [
                link.app, bytes(link.user), link.target.kind.rawValue, link.target.value, link.environment?.rawValue,
                link.source.rawValue, link.validFrom?.milliseconds, link.validUntil?.milliseconds,
                link.createdAt.milliseconds, link.createdBy, folded(link.user.value),
            ])
    }

    /// Puts another statement of the same user in this row's place.
    func replace(with link: Link, in database: SQLDatabase) throws {
        try database.execute(
            sql: """
                UPDATE link SET environment = ?, source = ?, validFrom = ?, createdAt = ?, createdBy = ? WHERE id = ?
                """,
            arguments: [
                link.environment?.rawValue, link.source.rawValue, link.validFrom?.milliseconds,
                link.createdAt.milliseconds, link.createdBy, id,
            ])
    }

    /// Ends the link.
    ///
    /// - Returns: the link as ended.
    @discardableResult
    func end(at date: Date, in database: SQLDatabase) throws -> Link {
        try database.execute(
            sql: "UPDATE link SET validUntil = ? WHERE id = ?", arguments: [date.milliseconds, id])
        return link.ended(at: date)
    }

    /// A user's id as the column `user` holds it.
    static func bytes(_ user: UserID) -> Data { Data(user.value.utf8) }

    /// The user's id that the column `user` holds.
    static func user(_ bytes: Data) throws -> UserID {
        guard let id = String(data: bytes, encoding: .utf8), let user = try? UserID(id) else {
            throw SQLError.unknown("user")
        }
        return user
    }

    /// A user's id as the column `userFolded` holds it.
    static func folded(_ id: String) -> Data { Data(id.lowercased().utf8) }

    /// Applies `LinkRules.declare` and carries its decision out.
    static func declare(
        _ statement: Link, transfer: Bool, in database: SQLDatabase
    ) throws -> LinkRules.Decision {
        try apply(statement, in: database) { LinkRules.declare($0, existing: $1, transfer: transfer) }
    }

    /// Applies `LinkRules.importing` and carries its decision out.
    static func importLink(_ statement: Link, in database: SQLDatabase) throws -> LinkRules.Decision {
        try apply(statement, in: database) { LinkRules.importing($0, existing: $1) }
    }

    /// Applies `LinkRules.learn` and carries its decision out.
    @discardableResult
    static func learn(_ statement: Link, in database: SQLDatabase) throws -> LinkRules.Decision {
        try apply(statement, in: database) { LinkRules.learn($0, existing: $1) }
    }

    /// Ends the user's links to an identifier that are in force.
    ///
    /// - Returns: the links as ended.
    static func end(
        app: String, user: UserID, target: LinkTarget, at date: Date, in database: SQLDatabase
    ) throws -> [Link] {
        let current = try list(to: target, app: app, from: database)
            .filter { $0.link.user == user && $0.link.isInForce }
        let ended = try current.map { try $0.end(at: date, in: database) }
        if !ended.isEmpty { try refreshOwners(of: ended, in: database) }
        return ended
    }

    /// Every link of a user, ended ones included, in the order they were recorded.
    static func list(of user: UserID, app: String, from database: SQLDatabase) throws -> [LinkRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM link WHERE app = ? AND user = ? ORDER BY id")
        return try list(statement, [app, bytes(user)])
    }

    /// Every link to an identifier, ended ones included, in the order they were recorded.
    static func list(to target: LinkTarget, app: String, from database: SQLDatabase) throws -> [LinkRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM link WHERE app = ? AND kind = ? AND value = ? ORDER BY id")
        return try list(statement, [app, target.kind.rawValue, target.value])
    }

    /// Every link to some identifiers, ended ones included, in the order they were recorded.
    static func list(to targets: [LinkTarget], app: String, from database: SQLDatabase) throws -> [LinkRow] {
        guard !targets.isEmpty else { return [] }
        let one = "SELECT * FROM link WHERE app = ? AND kind = ? AND value = ?"
        let statement = try database.cachedStatement(
            sql: Array(repeating: one, count: targets.count).joined(separator: " UNION ALL "))
        return try list(statement, SQLArguments(targets.flatMap { [app, $0.kind.rawValue, $0.value] }))
            .sorted { $0.id < $1.id }
    }

    /// The links that a query for all columns gives.
    fileprivate static func list(_ statement: SQLStatement, _ arguments: SQLArguments) throws -> [LinkRow] {
        try SQLRow.fetchAll(statement, arguments: arguments).map(LinkRow.init)
    }

    /// Loads the links of a statement's identifier, asks the rule, and carries out its decision.
    private static func apply(
        _ statement: Link, in database: SQLDatabase, rule: (_ statement: Link, _ existing: [Link]) -> LinkRules.Decision
    ) throws -> LinkRules.Decision {
        let rows = try list(to: statement.target, app: statement.app, from: database)
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

    /// Cases that these links speak of get their owner anew, and what Apple signed before teaches what it now can.
    ///
    /// A user with a link is known by its id as well, which may be the `appAccountToken` of purchases.
    private static func refreshOwners(of links: [Link], in database: SQLDatabase) throws {
        for (app, links) in Dictionary(grouping: links, by: \.app) {
            let users = links.map { LinkTarget(.appAccountToken, $0.user.value) }
            let targets = Set(links.map(\.target) + users)
            try CaseRow.refreshOwners(app: app, targets: targets, in: database)
            // What was learnt from signed data has taught it already.
            guard let latest = links.last, latest.source != .signedData else { continue }
            for token in targets where token.kind == .appAccountToken {
                try learnFromNotifications(token, app: app, at: latest.createdAt, in: database)
            }
        }
    }
}
