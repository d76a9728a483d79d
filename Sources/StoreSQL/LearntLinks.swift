import Domain
import Foundation

// What signed data teaches of links, and to whom an Apple Account leads.

extension LinkRow {
    /// Records the links that a purchase proves whose token names a user.
    static func learn(
        from purchase: PurchaseFacts, app: String, isAccountTaught: Bool = true, at now: Date, in database: SQLDatabase
    ) throws {
        guard let user = try OwnerQuery.userNamed(byTokenOf: purchase, app: app, in: database) else { return }
        let links = LinkRules.taught(by: purchase, of: user, app: app, isAccountTaught: isAccountTaught, at: now)
        for link in links { try learn(link, in: database) }
    }

    /// Records what transactions say that were read.
    static func learn(
        from transactions: [Transaction], app: String, at now: Date, in database: SQLDatabase
    ) throws {
        for transaction in transactions
        where try transaction.appAccountToken != nil && !isLearnt(transaction, app: app, in: database) {
            try PurchaseTokenRow.recordSigned(transaction, app: app, in: database)
            let purchase = try PurchaseTokenRow.effective(transaction.facts, app: app, in: database)
            try learn(from: purchase, app: app, isAccountTaught: false, at: now, in: database)
        }
    }

    /// Whether a transaction says nothing of its token or its user that is not known.
    static func isLearnt(_ transaction: Transaction, app: String, in database: SQLDatabase) throws -> Bool {
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
        _ token: LinkTarget, app: String, at now: Date, in database: SQLDatabase
    ) throws {
        let rows = try SQLRow.fetchAll(
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
    static func taughtByNotifications(
        of user: UserID, app: String, from database: SQLDatabase
    ) throws -> [Link] {
        guard user.isUUID, try AppSettingRow.fetch(app, from: database)?.areUserIDsTokens == true else { return [] }
        let rows = try SQLRow.fetchAll(
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
    static func accounts(of user: UserID, app: String, from database: SQLDatabase) throws -> Set<Account> {
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
        of account: String, app: String, _ environment: AppStoreEnvironment, from database: SQLDatabase
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
}
