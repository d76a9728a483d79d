package import Domain
import Foundation

extension SQLStore {
    package func storedTransaction(
        app: String, id: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> Transaction? {
        try await read("look for a transaction in what is kept") { database in
            let told = try ToldPeriod.list(ofTransaction: id, app: app, in: database)
                .filter { environment == nil || $0.environment == environment }
            let answered = try AppleAnswerRow.list(.transactionID, id, app: app, in: database).map(\.answer.transaction)
                .filter { environment == nil || $0.environment == environment }
            let newest = try told.max { $0.signedAt < $1.signedAt }?.transaction(database)
            return ([newest].compactMap(\.self) + answered).max { $0.signedDate < $1.signedDate }
        }
    }

    package func storedSubscriptions(
        app: String, user: UserID, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> StoredSubscriptions {
        try await read("look for a user's subscriptions in what is kept") { database in
            var found = StoredSubscriptions()
            let names = try UserNames(of: user, app: app, in: database)
            let originals = try SubscriptionQuery.originals(of: names, app: app, in: database)
            found.isCut = originals.count > StoredSubscriptions.maximumCount
            for original in originals.prefix(StoredSubscriptions.maximumCount) {
                for place in AppStoreEnvironment.allCases where environment == nil || environment == place {
                    guard
                        let subscription = try SubscriptionQuery.subscription(original, app: app, place, in: database)
                    else { continue }
                    let owner = try SubscriptionQuery.owner(of: subscription, app: app, in: database)
                    if owner?.isSameUser(as: user) ?? false {
                        found.subscriptions.append(subscription)
                    } else {
                        found.othersOmitted += 1
                    }
                }
            }
            found.subscriptions.sort {
                let (left, right) = ($0.entry.subscription.transaction, $1.entry.subscription.transaction)
                return (left.purchaseDate, left.transactionID) > (right.purchaseDate, right.transactionID)
            }
            return found
        }
    }
}

/// One notification about a purchase, by the few columns that tell which is the newest.
private struct ToldPeriod {
    let position: Int64
    let environment: AppStoreEnvironment
    let purchaseDate: Date
    /// When Apple signed the transaction.
    let signedAt: Date
    /// When Apple signed the notification around it.
    let notifiedAt: Date

    private init(_ row: SQLRow) throws {
        position = try row.value("position")
        environment = try row.known("environment")
        purchaseDate = try row.date("purchaseDate")
        signedAt = try row.date("transactionSignedDate")
        notifiedAt = try row.dateIfPresent("signedDate") ?? signedAt
    }

    private static let columns =
        "SELECT position, environment, purchaseDate, transactionSignedDate, signedDate FROM notification"

    static func list(ofTransaction id: String, app: String, in database: SQLDatabase) throws -> [ToldPeriod] {
        try SQLRow.fetchAll(
            database.cachedStatement(sql: "\(columns) WHERE app = ? AND transactionId = ?"), arguments: [app, id]
        ).map(ToldPeriod.init)
    }

    static func list(
        ofSubscription original: String, app: String, in database: SQLDatabase
    ) throws -> [ToldPeriod] {
        try SQLRow.fetchAll(
            database.cachedStatement(
                sql: "\(columns) WHERE app = ? AND originalTransactionId = ? AND +productType = ?"),
            arguments: [app, original, ProductType.autoRenewableSubscription.rawValue]
        ).map(ToldPeriod.init)
    }

    /// The transaction in it.
    func transaction(_ database: SQLDatabase) throws -> Transaction? { try notification(database)?.transaction }

    func notification(_ database: SQLDatabase) throws -> AppleNotification? {
        try NotificationRow.list(
            database, sql: "\(NotificationRow.columns) WHERE position = ?", arguments: [position]
        ).first?.notification.notification
    }

    /// The status in it and the group of its transaction; nil where it tells no status.
    func status(_ database: SQLDatabase) throws -> (status: SubscriptionStatus, group: String)? {
        let row = try SQLRow.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT CAST(json_extract(CAST(payload AS TEXT), '$.data.status') AS INTEGER) AS status,
                        json_extract(CAST(transactionPayload AS TEXT), '$.subscriptionGroupIdentifier') AS "group"
                    FROM notificationContent
                    WHERE position = ? AND renewalPayload IS NOT NULL AND json_valid(CAST(payload AS TEXT))
                        AND json_valid(CAST(transactionPayload AS TEXT))
                    """), arguments: [position])
        guard let row, let status = try row.value("status", as: Int32?.self) else { return nil }
        return (SubscriptionStatus(rawValue: status), try row.value("group", as: String?.self) ?? "")
    }
}

/// What notifications tell of a user's subscriptions.
private enum SubscriptionQuery {
    /// How many notifications of one subscription are looked through for the last that tells a status.
    private static let maximumLooks = 20

    /// The original transaction ids that a user's identifiers lead to, at most one more than are looked for.
    static func originals(of names: UserNames, app: String, in database: SQLDatabase) throws -> [String] {
        var found: Set<String> = []
        func collect(
            _ condition: String, _ values: [any SQLValue],
            from tables: [String] = ["notification", "appleAnswer"]
        ) throws {
            for table in tables { try collect(condition, values, table) }
        }
        func collect(_ condition: String, _ values: [any SQLValue], _ table: String) throws {
            let statement = try database.cachedStatement(
                sql: """
                    SELECT originalTransactionId FROM \(table)
                    WHERE app = ? AND \(condition) = ? AND +productType = ?
                    """)
            let type = ProductType.autoRenewableSubscription.rawValue
            for value in values where found.count <= StoredSubscriptions.maximumCount {
                let rows = try SQLRow.fetchRows(statement, arguments: [app, value, type])
                while found.count <= StoredSubscriptions.maximumCount, let row = try rows.next() {
                    found.insert(try row.value(at: 0))
                }
            }
        }
        // Answers are told to nobody when they come: the owner rule finds whose they are.
        try collect("user", names.spellings.map(LinkRow.bytes), from: ["notification"])
        try collect("appAccountToken", names.tokens)
        for target in names.linked {
            switch target.kind {
            case .transactionId, .originalTransactionId: try collect(target.kind.rawValue, [target.value])
            case .appTransactionId:
                try collect("appTransactionId", [target.value], from: ["appleAnswer"])
                for environment in AppStoreEnvironment.allCases {
                    let known = try KnownIdentifierRow.identifiers(
                        ofAccount: target.value, app: app, environment,
                        limit: StoredSubscriptions.maximumCount + 1, in: database)
                    try collect("originalTransactionId", known)
                    try collect("transactionId", known)
                }
            case .appAccountToken: break
            }
        }
        return found.sorted()
    }

    /// A subscription in one environment; nil where nothing that is kept tells its status.
    static func subscription(
        _ original: String, app: String, _ environment: AppStoreEnvironment, in database: SQLDatabase
    ) throws -> StoredSubscription? {
        let told = try ToldPeriod.list(ofSubscription: original, app: app, in: database)
            .filter { $0.environment == environment }
        let answered = try AppleAnswerRow.list(.originalTransactionID, original, app: app, in: database).map(\.answer)
            .filter {
                $0.transaction.environment == environment
                    && $0.transaction.productType == .autoRenewableSubscription
            }
        // A refund tells of an earlier period: status and period need not come from the same notification.
        let period = try told.max { ($0.purchaseDate, $0.signedAt) < ($1.purchaseDate, $1.signedAt) }?
            .transaction(database)
        let latest = ([period].compactMap(\.self) + answered.map(\.transaction))
            .max { ($0.purchaseDate, $0.signedDate) < ($1.purchaseDate, $1.signedDate) }
        guard let latest else { return nil }
        let toldStanding = try standing(told, database)
        let answeredStanding = answered.compactMap(\.standing).max { $0.signedDate < $1.signedDate }
        guard
            let standing = [toldStanding, answeredStanding].compactMap(\.self)
                .max(by: { $0.signedDate < $1.signedDate })
        else { return nil }
        let subscription = Subscription(
            status: standing.status, originalTransactionID: original, transaction: latest,
            renewalInfo: standing.renewalInfo)
        return StoredSubscription(
            entry: GroupedSubscription(
                subscriptionGroupIdentifier: standing.subscriptionGroupIdentifier, subscription: subscription),
            asOf: standing.signedDate)
    }

    /// The status in the notification that Apple signed last of those that tell one.
    private static func standing(
        _ told: [ToldPeriod], _ database: SQLDatabase
    ) throws -> AppleAnswer.Standing? {
        let newestFirst = told.sorted { ($0.notifiedAt, $0.position) > ($1.notifiedAt, $1.position) }
        for told in newestFirst.prefix(maximumLooks) {
            guard let (status, group) = try told.status(database),
                let renewalInfo = try told.notification(database)?.renewalInfo
            else { continue }
            return AppleAnswer.Standing(
                status: status, subscriptionGroupIdentifier: group, renewalInfo: renewalInfo,
                signedDate: told.notifiedAt)
        }
        return nil
    }

    static func owner(
        of subscription: StoredSubscription, app: String, in database: SQLDatabase
    ) throws -> UserID? {
        let facts = subscription.entry.subscription.transaction.facts
        return try OwnerQuery.owner(
            of: ConsentSubject(
                app: app, user: nil, transactionID: facts.transactionID, environment: facts.environment, purchase: facts
            ),
            in: database)
    }
}
