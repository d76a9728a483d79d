package import Domain
package import Foundation

extension SQLStore {
    package var erasures: Int { fresh.erasures }

    package func keep(
        _ answers: [AppleAnswer], notedAfter count: Int, at now: Date
    ) async throws(ServiceError) {
        try await write("keep what Apple has answered") { [fresh, isShared] database in
            if isShared {
                // Another copy may have erased whom they are about.
                guard try fresh.isUpToDate(withErasuresOfAll: ErasureCount.all(database)) else { return }
            }
            // In the writer's turn: an erasure came before it, or finds what is kept.
            guard fresh.erasures == count else { return }
            for answer in answers { try AppleAnswerRow.keep(answer, at: now, in: database) }
        }
    }
}

/// What Apple has answered about a transaction, as it stands in its table.
struct AppleAnswerRow {
    let position: Int64
    let answer: AppleAnswer

    private init(_ row: SQLRow) throws {
        position = try row.value("position")
        let facts = try row.purchase()
        var details = TransactionDetails()
        details.price = try row.value("price")
        details.currency = try row.value("currency")
        details.storefront = try row.value("storefront")
        details.revocationPercentage = try row.value("revocationPercentage")
        let transaction = Transaction(
            transactionID: facts.transactionID, originalTransactionID: facts.originalTransactionID,
            webOrderLineItemID: facts.webOrderLineItemID, appTransactionID: facts.appTransactionID,
            appAccountToken: facts.appAccountToken, productID: facts.productID, productType: facts.productType,
            purchaseDate: facts.purchaseDate, expiresDate: facts.expiresDate, signedDate: try row.date("signedDate"),
            revocationDate: try row.dateIfPresent("revocationDate"), isFamilyShared: facts.isFamilyShared,
            isAdvancedCommerce: facts.isAdvancedCommerce, environment: facts.environment, details: details,
            payload: try row.bytes("payload"), signed: try row.value("signed"))
        answer = AppleAnswer(app: try row.value("app"), transaction: transaction, standing: try Self.standing(row))
    }

    private static func standing(_ row: SQLRow) throws -> AppleAnswer.Standing? {
        guard let status = try row.value("status", as: Int32?.self) else { return nil }
        return AppleAnswer.Standing(
            status: SubscriptionStatus(rawValue: status),
            subscriptionGroupIdentifier: try row.value("subscriptionGroup"),
            renewalInfo: VerifiedData(
                payload: try row.bytes("renewalPayload"), signed: try row.value("renewalSigned")),
            signedDate: try row.date("statusSignedDate"))
    }

    /// Keeps an answer, unless one is kept of its transaction that Apple signed later.
    static func keep(_ answer: AppleAnswer, at now: Date, in database: SQLDatabase) throws {
        let (transaction, standing) = (answer.transaction, answer.standing)
        try database.cachedStatement(sql: insertion).execute(
            arguments: [
                answer.app, transaction.environment.rawValue, transaction.transactionID,
                transaction.originalTransactionID, transaction.webOrderLineItemID, transaction.appTransactionID,
                transaction.appAccountToken, transaction.productID, transaction.productType?.rawValue,
                transaction.purchaseDate.milliseconds, transaction.expiresDate?.milliseconds,
                transaction.signedDate.milliseconds, transaction.revocationDate?.milliseconds,
                transaction.isFamilyShared, transaction.isAdvancedCommerce, transaction.details.price,
                transaction.details.currency, transaction.details.storefront,
                transaction.details.revocationPercentage, Data(transaction.payload), transaction.signed,
                standing?.status.rawValue, standing?.subscriptionGroupIdentifier,
                standing?.signedDate.milliseconds, (standing?.renewalInfo.payload).map { Data($0) },
                standing?.renewalInfo.signed, now.milliseconds,
            ])
    }

    private static let columns = [
        "app", "environment", "transactionId", "originalTransactionId", "webOrderLineItemId", "appTransactionId",
        "appAccountToken", "productId", "productType", "purchaseDate", "expiresDate", "signedDate", "revocationDate",
        "isFamilyShared", "isAdvancedCommerce", "price", "currency", "storefront", "revocationPercentage", "payload",
        "signed", "status", "subscriptionGroup", "statusSignedDate", "renewalPayload", "renewalSigned", "keptAt",
    ]
    /// What an answer about the transaction alone leaves as it was.
    private static let standing: Set = [
        "status", "subscriptionGroup", "statusSignedDate", "renewalPayload", "renewalSigned",
    ]

    private static let insertion: String = {
        let changes = columns.dropFirst(3).map { column in
            standing.contains(column)
                ? "\(column) = CASE WHEN excluded.status IS NULL THEN appleAnswer.\(column) ELSE excluded.\(column) END"
                : "\(column) = excluded.\(column)"
        }
        return """
            INSERT INTO appleAnswer (\(columns.joined(separator: ", ")))
            VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
            ON CONFLICT (app, transactionId, environment) DO UPDATE SET \(changes.joined(separator: ", "))
            WHERE excluded.signedDate >= appleAnswer.signedDate
            """
    }()

    /// The rows of an app whose column has a value.
    static func list(
        _ column: Column, _ value: String, app: String, in database: SQLDatabase
    ) throws -> [AppleAnswerRow] {
        try SQLRow.fetchAll(
            database.cachedStatement(
                sql: "SELECT * FROM appleAnswer WHERE app = ? AND \(column.rawValue) = ?"), arguments: [app, value]
        ).map(AppleAnswerRow.init)
    }

    /// The columns that have an index each.
    enum Column: String {
        case transactionID = "transactionId"
        case originalTransactionID = "originalTransactionId"
        case appTransactionID = "appTransactionId"
        case appAccountToken
    }

    static func fetch(_ position: Int64, from database: SQLDatabase) throws -> AppleAnswerRow? {
        try SQLRow.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM appleAnswer WHERE position = ?"), arguments: [position]
        ).map(AppleAnswerRow.init)
    }

    static func remove(_ positions: [Int64], from database: SQLDatabase) throws {
        let statement = try database.cachedStatement(sql: "DELETE FROM appleAnswer WHERE position = ?")
        for position in positions { try statement.execute(arguments: [position]) }
    }

    /// Those about purchases that the owner rule gives to a user now, and those about the user's purchases that it gives to nobody.
    ///
    /// `linked`: the identifiers that the user's links name; `purchases`: those of the user's deliveries and cases.
    static func positions(
        of user: UserID, tokens: [String], linked: Set<LinkTarget>, purchases: Set<LinkTarget>, app: String,
        in database: SQLDatabase
    ) throws -> [Int64] {
        var found: [Int64: AppleAnswer] = [:]
        func collect(_ column: Column, _ value: String) throws {
            for row in try list(column, value, app: app, in: database) { found[row.position] = row.answer }
        }
        for token in tokens { try collect(.appAccountToken, token) }
        for target in linked.union(purchases) { try collect(target.kind.column, target.value) }
        return try found.filter { _, answer in
            let facts = answer.transaction.facts
            if let owner = try OwnerQuery.owner(of: facts, app: app, in: database) {
                return owner.isSameUser(as: user)
            }
            return purchases.contains(LinkTarget(.transactionId, facts.transactionID))
                || purchases.contains(LinkTarget(.originalTransactionId, facts.originalTransactionID))
        }.keys.sorted()
    }
}

extension LinkTarget.Kind {
    fileprivate var column: AppleAnswerRow.Column {
        switch self {
        case .transactionId: .transactionID
        case .originalTransactionId: .originalTransactionID
        case .appTransactionId: .appTransactionID
        case .appAccountToken: .appAccountToken
        }
    }
}
