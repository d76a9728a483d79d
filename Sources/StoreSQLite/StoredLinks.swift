package import Domain
package import Foundation
import GRDB

extension SQLiteStore: LinkStore {
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
                for values in targets.map(\.value).sorted().chunks(of: Self.maximumListLength) {
                    // Of any number of values: not worth a place among the statements that are kept.
                    let statement = try database.makeStatement(
                        sql: """
                            SELECT * FROM link WHERE app = ? AND kind = ? AND value IN (\(Self.placeholders(values.count)))
                            """)
                    rows += try LinkRow.list(statement, StatementArguments([app, kind.rawValue] + values))
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
            for transaction in named where try !LinkRow.isLearnt(transaction, app: app, in: database) {
                try PurchaseTokenRow.recordSigned(transaction, app: app, in: database)
                let purchase = try PurchaseTokenRow.effective(transaction.facts, app: app, in: database)
                try LinkRow.learn(from: purchase, app: app, isAccountTaught: false, at: now, in: database)
            }
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

/// A link as it stands in its table.
struct LinkRow: Sendable {
    let id: Int64
    let link: Link

    /// Reads a row with all columns.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    init(_ row: Row) throws {
        id = try row.value("id")
        link = Link(
            app: try row.value("app"), user: try Self.user(row.value("user")),
            target: LinkTarget(try row.known("kind"), try row.value("value")),
            environment: try row.knownIfPresent("environment"), source: try row.known("source"),
            validFrom: try row.dateIfPresent("validFrom"), validUntil: try row.dateIfPresent("validUntil"),
            createdAt: try row.date("createdAt"), createdBy: try row.value("createdBy"))
    }

    static func insert(_ link: Link, into database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO link
                    (app, user, kind, value, environment, source, validFrom, validUntil, createdAt, createdBy, userFolded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                link.app, bytes(link.user), link.target.kind.rawValue, link.target.value, link.environment?.rawValue,
                link.source.rawValue, link.validFrom?.milliseconds, link.validUntil?.milliseconds,
                link.createdAt.milliseconds, link.createdBy, folded(link.user.value),
            ])
    }

    /// Puts another statement of the same user in this row's place.
    func replace(with link: Link, in database: Database) throws {
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
    func end(at date: Date, in database: Database) throws -> Link {
        try database.execute(
            sql: "UPDATE link SET validUntil = ? WHERE id = ?", arguments: [date.milliseconds, id])
        return link.ended(at: date)
    }

    /// A user's id as the column `user` holds it.
    static func bytes(_ user: UserID) -> Data { Data(user.value.utf8) }

    /// The user's id that the column `user` holds.
    static func user(_ bytes: Data) throws -> UserID {
        guard let id = String(data: bytes, encoding: .utf8), let user = try? UserID(id) else {
            throw Row.unknown("user")
        }
        return user
    }

    /// A user's id as the column `userFolded` holds it.
    static func folded(_ id: String) -> Data { Data(id.lowercased().utf8) }

    /// Applies `LinkRules.declare` and carries its decision out.
    static func declare(
        _ statement: Link, transfer: Bool, in database: Database
    ) throws -> LinkRules.Decision {
        try apply(statement, in: database) { LinkRules.declare($0, existing: $1, transfer: transfer) }
    }

    /// Applies `LinkRules.learn` and carries its decision out.
    @discardableResult
    static func learn(_ statement: Link, in database: Database) throws -> LinkRules.Decision {
        try apply(statement, in: database) { LinkRules.learn($0, existing: $1) }
    }

    /// Records the links that a purchase proves whose token names a user.
    static func learn(
        from purchase: PurchaseFacts, app: String, isAccountTaught: Bool = true, at now: Date, in database: Database
    ) throws {
        guard let user = try OwnerQuery.userNamed(byTokenOf: purchase, app: app, in: database) else { return }
        let links = LinkRules.taught(by: purchase, of: user, app: app, isAccountTaught: isAccountTaught, at: now)
        for link in links { try learn(link, in: database) }
    }

    /// Whether a transaction says nothing of its token or its user that is not known.
    static func isLearnt(_ transaction: Transaction, app: String, in database: Database) throws -> Bool {
        guard try PurchaseTokenRow.isKnown(transaction, app: app, in: database) else { return false }
        guard let user = try OwnerQuery.userNamed(byTokenOf: transaction.facts, app: app, in: database) else {
            return true
        }
        let links = LinkRules.taught(
            by: transaction.facts, of: user, app: app, isAccountTaught: false, at: .distantPast)
        return try links.allSatisfy { link in
            try list(to: link.target, app: app, from: database)
                .contains { $0.link.isInForce && $0.link.covers(link.environment) }
        }
    }

    /// How many notifications of one token teach links to a user who is heard of later.
    private static let maximumTaught = 1000

    /// Records what stored notifications with a token prove, now that the user is known whom it names.
    static func learnFromNotifications(
        _ token: LinkTarget, app: String, at now: Date, in database: Database
    ) throws {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT * FROM notification
                    WHERE app = ? AND appAccountToken = ? AND processedAt IS NOT NULL ORDER BY position DESC LIMIT ?
                    """),
            arguments: [app, token.value, maximumTaught])
        for row in rows {
            let purchase = try PurchaseTokenRow.effective(row.purchase(), app: app, in: database)
            try learn(from: purchase, app: app, at: now, in: database)
            let owner = try OwnerQuery.owner(of: purchase, app: app, in: database)
            try database.cachedStatement(sql: "UPDATE notification SET user = ? WHERE position = ?")
                .execute(arguments: [owner.map(bytes), try row.value("position", as: Int64.self)])
        }
    }

    /// What stored notifications prove of a user who was never heard of, where the app's user ids are its tokens.
    fileprivate static func taughtByNotifications(
        of user: UserID, app: String, from database: Database
    ) throws -> [Link] {
        guard user.isUUID, try AppSettingRow.fetch(app, from: database)?.areUserIDsTokens == true else { return [] }
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT * FROM notification WHERE app = ? AND appAccountToken = ? ORDER BY position DESC LIMIT ?"),
            arguments: [app, user.folded, maximumTaught])
        var links: Set<Link> = []
        for row in rows {
            let purchase = try PurchaseTokenRow.effective(row.purchase(), app: app, in: database)
            guard try OwnerQuery.owner(of: purchase, app: app, in: database)?.isSameUser(as: user) ?? false else {
                continue
            }
            links.formUnion(try LinkRules.taught(by: purchase, of: user, app: app, at: row.date("receivedAt")))
        }
        return links.sorted { $0.target.value < $1.target.value }
    }

    /// An Apple Account in an environment.
    struct Account: Hashable {
        let id: String
        let environment: AppStoreEnvironment
    }

    /// The Apple Accounts that the links in force of a user lead to, as far as they are remembered.
    static func accounts(of user: UserID, app: String, from database: Database) throws -> Set<Account> {
        var accounts: Set<Account> = []
        for link in try list(of: user, app: app, from: database).map(\.link) where link.isInForce {
            for environment in AppStoreEnvironment.allCases where link.covers(environment) {
                let account =
                    link.target.kind == .appTransactionId
                    ? link.target.value
                    : try KnownIdentifierRow.account(of: link.target.value, app: app, environment, database)
                if let account { accounts.insert(Account(id: account, environment: environment)) }
            }
        }
        return accounts
    }

    /// How many identifiers of an Apple Account are looked at to find its users.
    private static let maximumIdentifiers = 1000

    /// The users of an Apple Account: those linked to it, and those linked to one of its transactions, as one account may
    /// serve several users.
    static func users(
        of account: String, app: String, _ environment: AppStoreEnvironment, from database: Database
    ) throws -> [UserID] {
        let identifiers = try String.fetchAll(
            database,
            sql: """
                SELECT identifier FROM knownIdentifier WHERE app = ? AND appTransactionId = ? AND environment = ?
                ORDER BY id DESC LIMIT ?
                """,
            arguments: [app, account, environment.rawValue, maximumIdentifiers])
        var targets = [LinkTarget(.appTransactionId, account)]
        for identifier in identifiers {
            targets += [LinkTarget(.transactionId, identifier), LinkTarget(.originalTransactionId, identifier)]
        }
        let links = try targets.flatMap { try list(to: $0, app: app, from: database).map(\.link) }
        return Set(links.filter { $0.isInForce && $0.covers(environment) }.map(\.user)).sorted { $0.value < $1.value }
    }

    /// Ends the user's links to an identifier that are in force.
    ///
    /// - Returns: the links as ended.
    static func end(
        app: String, user: UserID, target: LinkTarget, at date: Date, in database: Database
    ) throws -> [Link] {
        let current = try list(to: target, app: app, from: database)
            .filter { $0.link.user == user && $0.link.isInForce }
        let ended = try current.map { try $0.end(at: date, in: database) }
        if !ended.isEmpty { try refreshOwners(of: ended, in: database) }
        return ended
    }

    /// Every link of a user, ended ones included, in the order they were recorded.
    static func list(of user: UserID, app: String, from database: Database) throws -> [LinkRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM link WHERE app = ? AND user = ? ORDER BY id")
        return try list(statement, [app, bytes(user)])
    }

    /// Every link to an identifier, ended ones included, in the order they were recorded.
    static func list(to target: LinkTarget, app: String, from database: Database) throws -> [LinkRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM link WHERE app = ? AND kind = ? AND value = ? ORDER BY id")
        return try list(statement, [app, target.kind.rawValue, target.value])
    }

    /// The links that a query for all columns gives.
    fileprivate static func list(_ statement: Statement, _ arguments: StatementArguments) throws -> [LinkRow] {
        try Row.fetchAll(statement, arguments: arguments).map(LinkRow.init)
    }

    /// Loads the links of a statement's identifier, asks the rule, and carries out its decision.
    private static func apply(
        _ statement: Link, in database: Database, rule: (_ statement: Link, _ existing: [Link]) -> LinkRules.Decision
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
    private static func refreshOwners(of links: [Link], in database: Database) throws {
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

extension Link {
    fileprivate func ended(at date: Date) -> Link {
        Link(
            app: app, user: user, target: target, environment: environment, source: source, validFrom: validFrom,
            validUntil: date, createdAt: createdAt, createdBy: createdBy)
    }
}
