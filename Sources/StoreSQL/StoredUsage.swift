package import Domain
import Foundation

extension SQLStore {
    package func recordUsage(_ reports: [UsageReport]) async throws(ServiceError) -> [UsageRules.Decision] {
        try await write("record usage") { database in
            // One after the other, as several may be about one purchase.
            try reports.map { try UsageRow.record($0, in: database) }
        }
    }

    package func usage(of subject: ConsentSubject) async throws(ServiceError) -> UsageReport? {
        try await read("read the usage of a purchase") { try UsageRow.find(subject, in: $0) }
    }

    package func usage(
        app: String, user: UserID, after position: Int64?, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, report: UsageReport)] {
        try await read("read usage by user") { database in
            let rows = try UsageRow.list(
                database, "user = ? AND position > ? ORDER BY position LIMIT ?",
                [app, UsageRow.bytes(user), position ?? 0, limit])
            return rows.map { ($0.position, $0.report) }
        }
    }
}

/// A report of usage as it stands in its table.
struct UsageRow: Sendable {
    let position: Int64
    let report: UsageReport

    private static let columns = """
        position, app, transactionId, user, productId, environment, at, recordedAt, recordedBy, deliveryStatus,
        consumptionPercentage, sampleContentProvided, accountCreatedAt, playTimeMinutes, lifetimeCentsPurchased,
        lifetimeCentsRefunded, platform, userStatus
        """

    /// Reads the next columns, in their order.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    private init(_ row: some ColumnValues) throws {
        position = try row.value("position")
        let app: String = try row.value("app")
        let transaction: String? = try row.value("transactionId")
        let user = try row.userIfPresent("user")
        let product: String? = try row.value("productId")
        let environment: String = try row.value("environment")
        let (at, recordedAt) = (try row.date("at"), try row.date("recordedAt"))
        let recordedBy: String = try row.value("recordedBy")
        var facts = UsageFacts()
        facts.deliveryStatus = try row.knownIfPresent("deliveryStatus")
        facts.consumptionPercentage = try row.value("consumptionPercentage")
        facts.sampleContentProvided = try row.value("sampleContentProvided")
        facts.accountCreatedAt = try row.dateIfPresent("accountCreatedAt")
        facts.playTimeMinutes = try row.value("playTimeMinutes")
        facts.lifetimeCentsPurchased = try row.value("lifetimeCentsPurchased")
        facts.lifetimeCentsRefunded = try row.value("lifetimeCentsRefunded")
        facts.platform = try row.value("platform")
        facts.userStatus = try row.value("userStatus")
        report = UsageReport(
            app: app, subject: try Self.subject(transaction, user, product),
            environment: try environment.isEmpty ? nil : Self.environment(environment), facts: facts, at: at,
            recordedAt: recordedAt, recordedBy: recordedBy)
    }

    private static func subject(
        _ transaction: String?, _ user: UserID?, _ product: String?
    ) throws -> UsageReport.Subject {
        if let transaction { return .transaction(transaction, user: user) }
        guard let user, let product else { throw SQLError.unknown("user") }
        return .product(product, user: user)
    }

    private static func environment(_ name: String) throws -> AppStoreEnvironment {
        guard let environment = AppStoreEnvironment(rawValue: name) else { throw SQLError.unknown("environment") }
        return environment
    }

    /// A user's id as the column `user` holds it.
    static func bytes(_ user: UserID) -> Data { Data(user.folded.utf8) }

    /// The rows of an app that satisfy a condition; the arguments begin with the app.
    static func list(_ database: SQLDatabase, _ condition: String, _ arguments: SQLArguments) throws -> [UsageRow] {
        let statement = try database.cachedStatement(sql: "SELECT \(columns) FROM usage WHERE app = ? AND \(condition)")
        return try SQLRow.fetchAll(statement, arguments: arguments).map { try UsageRow(OrderedRow($0)) }
    }

    static func list(ofTransaction transaction: String, app: String, in database: SQLDatabase) throws -> [UsageRow] {
        try list(database, "transactionId = ?", [app, transaction])
    }

    /// Applies `UsageRules.decide` and carries its decision out.
    static func record(_ report: UsageReport, in database: SQLDatabase) throws -> UsageRules.Decision {
        let environment = report.environment?.rawValue ?? ""
        let known: UsageRow?
        switch report.subject {
        case .transaction(let transaction, _):
            known = try list(
                database, "transactionId = ? AND environment = ?",
                [report.app, transaction, environment]
            ).first
        case .product(let product, let user):
            known = try list(
                database, "transactionId IS NULL AND user = ? AND productId = ? AND environment = ?",
                [report.app, bytes(user), product, environment]
            ).first
        }
        let decision = UsageRules.decide(report, standing: known?.report)
        switch decision {
        case .keep, .outdated: break
        case .insert(let report), .replace(let report): try save(report, over: known?.position, in: database)
        }
        return decision
    }

    /// Keeps a report; `position`: of the one in whose place it stands.
    private static func save(_ report: UsageReport, over position: Int64?, in database: SQLDatabase) throws {
        let (transaction, product): (String?, String?) =
            switch report.subject {
            case .transaction(let transaction, _): (transaction, nil)
            case .product(let product, _): (nil, product)
            }
        let facts = report.facts
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO usage (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (position) DO UPDATE SET
                    user = excluded.user, at = excluded.at, recordedAt = excluded.recordedAt,
                    recordedBy = excluded.recordedBy, deliveryStatus = excluded.deliveryStatus,
                    consumptionPercentage = excluded.consumptionPercentage,
                    sampleContentProvided = excluded.sampleContentProvided, accountCreatedAt = excluded.accountCreatedAt,
                    playTimeMinutes = excluded.playTimeMinutes, lifetimeCentsPurchased = excluded.lifetimeCentsPurchased,
                    lifetimeCentsRefunded = excluded.lifetimeCentsRefunded, platform = excluded.platform,
                    userStatus = excluded.userStatus
                """)
        try statement.execute(
            arguments: [
                position, report.app, transaction, report.subject.user.map(bytes), product,
                report.environment?.rawValue ?? "", report.at.milliseconds, report.recordedAt.milliseconds,
                report.recordedBy, facts.deliveryStatus?.rawValue, facts.consumptionPercentage,
                facts.sampleContentProvided, facts.accountCreatedAt?.milliseconds, facts.playTimeMinutes,
                facts.lifetimeCentsPurchased, facts.lifetimeCentsRefunded, facts.platform, facts.userStatus,
            ])
    }
}

// MARK: Of a purchase

extension UsageRow {
    /// What is known of the use of a purchase: what was reported of it by a transaction id, else of its product for its owner.
    static func find(_ subject: ConsentSubject, in database: SQLDatabase) throws -> UsageReport? {
        let known = try PurchaseRow.resolve(subject, from: database)
        var reports = try list(ofTransaction: known.transactionID, app: known.app, in: database)
        if let original = known.purchase?.otherName(than: known.transactionID) {
            reports += try list(ofTransaction: original, app: known.app, in: database)
        }
        let environment = known.purchase?.environment ?? known.environment
        if let newest = UsageRules.newest(reports.map(\.report), in: environment) { return newest }
        guard let purchase = known.purchase, let product = purchase.productID,
            let owner = try OwnerQuery.owner(of: known, in: database)
        else { return nil }
        let candidates = try list(
            database, "transactionId IS NULL AND user = ? AND productId = ?", [known.app, bytes(owner), product]
        ).map(\.report).filter { UsageRules.canSpeak($0, of: purchase) }
        guard let newest = UsageRules.newest(candidates, in: environment),
            try !isBoughtAgain(purchase, by: owner, app: known.app, until: newest.at, in: database)
        else { return nil }
        return newest
    }

    /// Whether Apple has told of a later purchase of the same product by the same user: a report of then may be about that one.
    private static func isBoughtAgain(
        _ purchase: PurchaseFacts, by owner: UserID, app: String, until end: Date, in database: SQLDatabase
    ) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: """
                SELECT 1 FROM notification
                WHERE app = ? AND user = ? AND +productId = ? AND +environment = ? AND +purchaseDate > ? AND +purchaseDate <= ?
                LIMIT 1
                """)
        return try OwnerQuery.spellings(of: owner, app: app, in: database).contains { spelling in
            try Int.fetchOne(
                statement,
                arguments: [
                    app, LinkRow.bytes(spelling), purchase.productID, purchase.environment.rawValue,
                    purchase.purchaseDate.milliseconds, end.milliseconds,
                ]) != nil
        }
    }
}

extension PurchaseFacts {
    /// The original transaction id of a one-time purchase, if that is another one; of a subscription it names another period.
    fileprivate func otherName(than transaction: String) -> String? {
        let isSubscription = webOrderLineItemID != nil || productType == .autoRenewableSubscription
        return isSubscription || originalTransactionID == transaction ? nil : originalTransactionID
    }
}

// MARK: Of a user

extension UsageRow {
    /// Where that stands which was reported of a user: what names the user, and what is of a purchase that was the user's and
    /// is nobody else's now.
    ///
    /// `transactions`: the ids of purchases that are, or were, the user's.
    static func positions(
        of user: UserID, transactions: Set<String>, app: String, in database: SQLDatabase
    ) throws -> [Int64] {
        var positions = try Int64.fetchSet(
            database.cachedStatement(sql: "SELECT position FROM usage WHERE app = ? AND user = ?"),
            arguments: [app, bytes(user)])
        for transaction in transactions {
            for row in try list(ofTransaction: transaction, app: app, in: database) {
                guard !positions.contains(row.position) else { continue }
                let subject = ConsentSubject(
                    app: app, user: nil, transactionID: transaction, environment: row.report.environment, purchase: nil)
                let owner = try OwnerQuery.owner(of: PurchaseRow.resolve(subject, from: database), in: database)
                if owner?.isSameUser(as: user) ?? true { positions.insert(row.position) }
            }
        }
        return positions.sorted()
    }

    static func remove(_ positions: [Int64], from database: SQLDatabase) throws {
        let removal = try database.cachedStatement(sql: "DELETE FROM usage WHERE position = ?")
        for position in positions { try removal.execute(arguments: [position]) }
    }

    /// The ids of transactions that notifications, tokens and receipts tie to a user.
    ///
    /// `tokens`: those that are the user's, in lower case.
    static func transactions(
        of spellings: [UserID], tokens: [String], app: String, in database: SQLDatabase
    ) throws -> Set<String> {
        var found: Set<String> = []
        func collect(_ sql: String, _ values: [any SQLValue]) throws {
            let statement = try database.cachedStatement(sql: sql)
            for value in values {
                let rows = try SQLRow.fetchAll(statement, arguments: SQLArguments([app] + [value]))
                for row in rows { found.formUnion(row.texts) }
            }
        }
        let users = spellings.map(LinkRow.bytes)
        let ofNotifications = "SELECT transactionId, originalTransactionId FROM notification WHERE app = ?"
        try collect("\(ofNotifications) AND user = ?", users)
        try collect("\(ofNotifications) AND appAccountToken = ?", tokens)
        try collect("SELECT transactionId FROM signedToken WHERE app = ? AND appAccountToken = ?", tokens)
        try collect("SELECT originalTransactionId FROM acceptedToken WHERE app = ? AND appAccountToken = ?", tokens)
        try collect("SELECT identifier FROM receiptUser WHERE app = ? AND user = ?", users)
        return found
    }
}
