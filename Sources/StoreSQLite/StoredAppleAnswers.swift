package import Domain
package import Foundation
import GRDB

extension SQLiteStore: AppleAnswerStore {
    package var erasures: Int { fresh.erasures }

    package func keep(
        _ answers: [AppleAnswer], notedAfter count: Int, at now: Date
    ) async throws(ServiceError) {
        try await write("keep what Apple has answered") { [fresh] database in
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

    private init(_ row: Row) throws {
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

    private static func standing(_ row: Row) throws -> AppleAnswer.Standing? {
        guard let status = try row.value("status", as: Int32?.self) else { return nil }
        return AppleAnswer.Standing(
            status: SubscriptionStatus(rawValue: status),
            subscriptionGroupIdentifier: try row.value("subscriptionGroup"),
            renewalInfo: VerifiedData(
                payload: try row.bytes("renewalPayload"), signed: try row.value("renewalSigned")),
            signedDate: try row.date("statusSignedDate"))
    }

    /// Keeps an answer, unless one is kept of its transaction that Apple signed later.
    static func keep(_ answer: AppleAnswer, at now: Date, in database: Database) throws {
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
                ? "\(column) = CASE WHEN excluded.status IS NULL THEN \(column) ELSE excluded.\(column) END"
                : "\(column) = excluded.\(column)"
        }
        return """
            INSERT INTO appleAnswer (\(columns.joined(separator: ", ")))
            VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
            ON CONFLICT (app, transactionId, environment) DO UPDATE SET \(changes.joined(separator: ", "))
            WHERE excluded.signedDate >= signedDate
            """
    }()

    /// The rows of an app whose column has a value.
    static func list(
        _ column: Column, _ value: String, app: String, in database: Database
    ) throws -> [AppleAnswerRow] {
        try Row.fetchAll(
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

    static func fetch(_ position: Int64, from database: Database) throws -> AppleAnswerRow? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM appleAnswer WHERE position = ?"), arguments: [position]
        ).map(AppleAnswerRow.init)
    }

    static func remove(_ positions: [Int64], from database: Database) throws {
        let statement = try database.cachedStatement(sql: "DELETE FROM appleAnswer WHERE position = ?")
        for position in positions { try statement.execute(arguments: [position]) }
    }

    /// Those about purchases that the owner rule gives to a user now, and those about the user's purchases that it gives to nobody.
    ///
    /// `linked`: the identifiers that the user's links name; `purchases`: those of the user's deliveries and cases.
    static func positions(
        of user: UserID, tokens: [String], linked: Set<LinkTarget>, purchases: Set<LinkTarget>, app: String,
        in database: Database
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

extension Schema {
    /// The table of migration 0026.
    static let appleAnswers = """
        -- What Apple has answered about transactions, of each what it signed last.
        CREATE TABLE appleAnswer (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            transactionId TEXT NOT NULL,
            originalTransactionId TEXT NOT NULL,
            webOrderLineItemId TEXT,
            appTransactionId TEXT,
            appAccountToken TEXT,
            productId TEXT,
            productType TEXT,
            purchaseDate INTEGER NOT NULL,
            expiresDate INTEGER,
            signedDate INTEGER NOT NULL,
            revocationDate INTEGER,
            isFamilyShared INTEGER NOT NULL,
            isAdvancedCommerce INTEGER NOT NULL,
            price INTEGER,
            currency TEXT,
            storefront TEXT,
            revocationPercentage INTEGER,
            payload BLOB NOT NULL,
            signed TEXT NOT NULL,
            -- Of the subscription; NULL as long as Apple was asked about the transaction alone.
            status INTEGER,
            subscriptionGroup TEXT,
            statusSignedDate INTEGER,
            renewalPayload BLOB,
            renewalSigned TEXT,
            -- From when on it is kept.
            keptAt INTEGER NOT NULL,
            UNIQUE (app, transactionId, environment)
        ) STRICT;
        CREATE INDEX appleAnswerByOriginal ON appleAnswer (app, originalTransactionId);
        CREATE INDEX appleAnswerByAccount ON appleAnswer (app, appTransactionId) WHERE appTransactionId IS NOT NULL;
        CREATE INDEX appleAnswerByToken ON appleAnswer (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
        CREATE INDEX appleAnswerByTime ON appleAnswer (keptAt);
        CREATE INDEX appleAnswerOfSandbox ON appleAnswer (keptAt) WHERE environment = 'Sandbox';
        """
}
