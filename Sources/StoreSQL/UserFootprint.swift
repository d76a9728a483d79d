import Domain
import Foundation

/// Under which names a user is known, as one transaction sees it.
struct UserNames {
    /// Every spelling of the user's id, the given one included.
    let spellings: [UserID]
    /// The `appAccountToken`s that are the user's at present, in lower case: those that are linked, and its id if it is one.
    let tokens: [String]
    /// The identifiers that the user's links name, ended ones included, and its id as a token.
    let linked: Set<LinkTarget>

    init(of user: UserID, app: String, in database: SQLDatabase) throws {
        spellings = try OwnerQuery.spellings(of: user, app: app, in: database)
        let links = try spellings.flatMap { try LinkRow.list(of: $0, app: app, from: database).map(\.link) }
        tokens = Array(
            Set(
                links.filter { $0.isInForce && $0.target.kind == .appAccountToken }.map(\.target.value)
                    + (user.isUUID ? [user.folded] : []))
        ).sorted()
        linked = try Set(spellings.flatMap { try UserDeliveries.targets(of: $0, app: app, in: database) })
    }
}

/// What is a user's, as one transaction sees it: the rows that an erasure removes or changes, and that an export shows.
struct UserFootprint {
    /// A table whose rows name a user in their column `user`, which alone tells whose they are.
    enum Table: String {
        case link
        case consent
        case event

        fileprivate var key: String { self == .link ? "id" : "position" }
    }

    let app: String
    let user: UserID
    let names: UserNames
    /// Oldest first.
    let deliveries: [DeliveryRow]
    /// Those that the owner rule gives to the user now, and those whose owner it was told to be.
    let cases: [RefundCase]
    let usage: [Int64]
    let notifications: [Int64]
    let answers: [Int64]
    let quarantined: [Int64]
    let receipts: [Int64]

    init(of user: UserID, app: String, in database: SQLDatabase) throws {
        self.app = app
        self.user = user
        names = try UserNames(of: user, app: app, in: database)
        let (spellings, tokens, linked) = (names.spellings, names.tokens, names.linked)
        deliveries = try UserDeliveries.list(of: user, app: app, .all, in: database)
        cases = try Self.cases(of: user, spellings, linked, app: app, in: database)
        let purchases = Self.purchases(deliveries, cases)
        usage = try UsageRow.positions(
            of: user,
            transactions: UsageRow.transactions(of: spellings, tokens: tokens, app: app, in: database)
                .union(linked.union(purchases).transactions),
            app: app, in: database)
        notifications = try NotificationRow.positions(of: spellings, tokens: tokens, app: app, in: database)
        answers = try AppleAnswerRow.positions(
            of: user, tokens: tokens, linked: linked, purchases: purchases, app: app, in: database)
        quarantined = try QuarantineRow.positions(of: linked.union(purchases), app: app, in: database)
        receipts = try ReceiptRow.positions(of: spellings, app: app, in: database)
    }

    var spellings: [UserID] { names.spellings }
    var tokens: [String] { names.tokens }
    var linked: Set<LinkTarget> { names.linked }

    /// The identifiers by which the user's purchases are recognised, also when their rows have lost the token.
    var targets: Set<LinkTarget> { linked.union(Self.purchases(deliveries, cases)) }

    /// The Apple Accounts that the user's links and purchases name.
    var accounts: Set<String> {
        let facts = deliveries.compactMap(\.delivery.purchase) + cases.map(\.purchase)
        return Set(facts.compactMap(\.appTransactionID) + linked.filter { $0.kind == .appTransactionId }.map(\.value))
    }

    /// The rows of a table that name the user, in their order.
    func positions(in table: Table, _ database: SQLDatabase) throws -> [Int64] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(table.key) FROM \(table.rawValue) WHERE app = ? AND user = ?")
        return try spellings.flatMap { try Int64.fetchAll(statement, arguments: [app, LinkRow.bytes($0)]) }.sorted()
    }

    /// Runs a statement, given up to its condition, on the rows of a table whose column `user` names the user.
    ///
    /// - Returns: how many there were.
    func apply(_ statement: String, _ database: SQLDatabase) throws -> Int {
        try spellings.reduce(0) { count, spelling in
            try database.execute(
                sql: "\(statement) WHERE app = ? AND user = ?", arguments: [app, LinkRow.bytes(spelling)])
            return count + database.changesCount
        }
    }

    /// As it will be once owners are judged anew: many cases get their owner in batches only.
    private static func cases(
        of user: UserID, _ spellings: [UserID], _ linked: Set<LinkTarget>, app: String, in database: SQLDatabase
    ) throws -> [RefundCase] {
        var found: [String: RefundCase] = [:]
        var others: Set<String> = []
        for target in linked {
            // One statement for each kind, so that each finds its index.
            let candidates = try CaseRow.list(
                database, sql: "SELECT * FROM refundCase WHERE app = ? AND \(target.kind.rawValue) = ?",
                arguments: [app, target.value])
            for candidate in candidates where found[candidate.id] == nil && !others.contains(candidate.id) {
                let owner = try OwnerQuery.owner(of: candidate.purchase, app: app, in: database)
                if owner?.isSameUser(as: user) ?? false {
                    found[candidate.id] = candidate
                } else {
                    others.insert(candidate.id)
                }
            }
        }
        for spelling in spellings {
            let owned = try CaseRow.list(
                database, sql: "SELECT * FROM refundCase WHERE app = ? AND owner = ? ORDER BY deadline, id",
                arguments: [app, LinkRow.bytes(spelling)])
            for refundCase in owned where !others.contains(refundCase.id) { found[refundCase.id] = refundCase }
        }
        return found.values.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
    }

    /// The identifiers of single purchases.
    private static func purchases(_ deliveries: [DeliveryRow], _ cases: [RefundCase]) -> Set<LinkTarget> {
        let transactions = deliveries.map(\.delivery.transactionID) + cases.map(\.transactionID)
        let facts = deliveries.compactMap(\.delivery.purchase) + cases.map(\.purchase)
        return Set(
            transactions.map { LinkTarget(.transactionId, $0) }
                + facts.map { LinkTarget(.originalTransactionId, $0.originalTransactionID) })
    }
}

extension Set<LinkTarget> {
    /// The transaction ids among them, original ones included.
    fileprivate var transactions: Set<String> {
        Set<String>(filter { [.transactionId, .originalTransactionId].contains($0.kind) }.map(\.value))
    }
}

extension NotificationRow {
    /// Those that were found to be a user's own, and those that name one of its tokens.
    fileprivate static func positions(
        of spellings: [UserID], tokens: [String], app: String, in database: SQLDatabase
    ) throws -> [Int64] {
        let found = "SELECT position FROM notification WHERE app = ?"
        let (byUser, byToken) = (
            try database.cachedStatement(sql: "\(found) AND user = ?"),
            try database.cachedStatement(sql: "\(found) AND appAccountToken = ?")
        )
        var positions: Set<Int64> = []
        for user in spellings {
            positions.formUnion(try Int64.fetchSet(byUser, arguments: [app, LinkRow.bytes(user)]))
        }
        for token in tokens { positions.formUnion(try Int64.fetchSet(byToken, arguments: [app, token])) }
        return positions.sorted()
    }
}

extension ReceiptRow {
    /// Those that came in a user's name.
    fileprivate static func positions(
        of spellings: [UserID], app: String, in database: SQLDatabase
    ) throws -> [Int64] {
        let statement = try database.cachedStatement(sql: "SELECT position FROM receipt WHERE app = ? AND user = ?")
        return try spellings.flatMap { try Int64.fetchAll(statement, arguments: [app, LinkRow.bytes($0)]) }.sorted()
    }
}

extension QuarantineRow {
    /// Those that say that their purchase has one of these identifiers.
    fileprivate static func positions(
        of targets: Set<LinkTarget>, app: String, in database: SQLDatabase
    ) throws -> [Int64] {
        var positions: Set<Int64> = []
        for target in targets {
            // One statement for each kind, so that each finds its index.
            let statement = try database.cachedStatement(
                sql: "SELECT position FROM quarantine WHERE app = ? AND \(target.kind.rawValue) = ?")
            positions.formUnion(try Int64.fetchSet(statement, arguments: [app, target.value]))
        }
        return positions.sorted()
    }
}
