import Domain
import Foundation

/// A delivery as it stands in its tables, with its claim.
struct DeliveryRow: Sendable {
    var delivery: Delivery
    /// Who sends it at this moment, and since when; nil unless it is being sent.
    let claim: (worker: String, at: Date)?
    /// Why its end was asked for while it was being sent.
    let cancellation: DeliveryFailure?

    /// What a query must ask for, in this order.
    static let columns =
        ([
            "id", "app", "caseId", "user", "acceptedFor", "caller", "transactionId", "environment", "version", "body",
            "state", "createdAt", "deadline", "requestedDeadline", "nextAttemptAt", "attemptCount",
            "mayHaveReachedApple",
            "warnings", "failure", "endedAt", "refundPreference", "policyRule", "policyFacts", "worker", "claimedAt",
            "cancellation", "originalTransactionId",
        ] + PurchaseRow.columns).map { "delivery.\($0)" }.joined(separator: ", ")

    /// Reads a row with the columns above, and the attempts that belong to it.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(_ row: SQLRow, from database: SQLDatabase) throws {
        let row = OrderedRow(row)
        delivery = Delivery(
            id: try row.value("id"), app: try row.value("app"), caseID: try row.value("caseId"),
            user: try row.userIfPresent("user"), acceptedFor: try row.userIfPresent("acceptedFor"),
            caller: try row.value("caller"),
            transactionID: try row.value("transactionId"),
            environment: try row.knownIfPresent("environment"), purchase: nil,
            version: try row.known("version"), body: try row.bytes("body"), state: try row.known("state"),
            createdAt: try row.date("createdAt"), deadline: try row.date("deadline"),
            requestedDeadline: try row.dateIfPresent("requestedDeadline"),
            nextAttemptAt: try row.dateIfPresent("nextAttemptAt"),
            attemptCount: try row.value("attemptCount"),
            mayHaveReachedApple: try row.value("mayHaveReachedApple"),
            warnings: try Self.warnings(row.value("warnings", as: Data?.self)),
            failure: try row.value("failure", as: Data?.self).map(DeliveryFailure.init(stored:)),
            endedAt: try row.dateIfPresent("endedAt"), refundPreference: try row.knownIfPresent("refundPreference"),
            policy: try Self.policy(row))
        let worker = try row.value("worker", as: String?.self)
        let claimedAt = try row.dateIfPresent("claimedAt")
        claim = worker.flatMap { worker in claimedAt.map { (worker, $0) } }
        cancellation = try row.value("cancellation", as: Data?.self).map(DeliveryFailure.init(stored:))
        if try row.value("originalTransactionId", as: String?.self) != nil { delivery.purchase = try row.purchase() }
        if delivery.attemptCount > 0 { delivery.attempts = try AttemptRow.list(of: delivery.id, from: database) }
    }

    private static func warnings(_ stored: Data?) throws -> [String] {
        try stored.map { try JSONDecoder().decode([String].self, from: $0) } ?? []
    }

    private static func policy(_ row: OrderedRow) throws -> PolicyTrace? {
        let rule = try row.value("policyRule", as: String?.self)
        let facts = try row.value("policyFacts", as: Data?.self)
        return try rule.flatMap { rule in try facts.map { try PolicyTrace(rule: rule, storedFacts: $0) } }
    }

    /// A delivery of an app.
    static func fetch(app: String, id: String, from database: SQLDatabase) throws -> DeliveryRow? {
        try list(
            database, sql: "SELECT \(DeliveryRow.columns) FROM delivery WHERE id = ? AND app = ?", arguments: [id, app]
        ).first
    }

    /// A delivery of an app, with its present owner.
    static func present(app: String, id: String, from database: SQLDatabase) throws -> Delivery? {
        try fetch(app: app, id: id, from: database).map { try $0.withOwner(database) }
    }

    /// The delivery with its present owner.
    func withOwner(_ database: SQLDatabase) throws -> Delivery {
        var present = delivery
        let subject = try PurchaseRow.resolve(ConsentSubject(delivery), from: database)
        present.owner = try OwnerQuery.owner(of: subject, in: database)
        return present
    }

    /// Every delivery of a case, oldest first.
    static func ofCase(id: String, app: String, from database: SQLDatabase) throws -> [Delivery] {
        try rows(ofCase: id, app: app, from: database).map(\.delivery)
    }

    static func rows(ofCase id: String, app: String, from database: SQLDatabase) throws -> [DeliveryRow] {
        try list(
            database, sql: "SELECT \(DeliveryRow.columns) FROM delivery WHERE caseId = ? AND +app = ? ORDER BY id",
            arguments: [id, app])
    }

    /// The deliveries that a query for all columns gives.
    static func list(_ database: SQLDatabase, sql: String, arguments: SQLArguments) throws -> [DeliveryRow] {
        try SQLRow.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map {
            try DeliveryRow($0, from: database)
        }
    }
}

/// An attempt of a delivery as it stands in its table.
enum AttemptRow {
    /// The attempts of a delivery that are still kept, oldest first.
    static func list(of deliveryID: String, from database: SQLDatabase) throws -> [DeliveryAttempt] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM deliveryAttempt WHERE deliveryId = ? ORDER BY number")
        return try SQLRow.fetchAll(statement, arguments: [deliveryID]).map { row in
            DeliveryAttempt(
                startedAt: try row.date("startedAt"),
                duration: .microseconds(try row.value("microseconds", as: Int64.self)),
                httpStatus: try row.value("httpStatus"), errorCode: try row.value("errorCode"),
                failure: try row.value("failure"))
        }
    }

    /// Keeps attempts behind those that there were.
    static func append(
        _ attempts: [DeliveryAttempt], to deliveryID: String, behind count: Int, in database: SQLDatabase
    ) throws {
        for (offset, attempt) in attempts.enumerated() {
            let statement = try database.cachedStatement(
                sql: """
                    INSERT INTO deliveryAttempt
                        (deliveryId, number, startedAt, microseconds, httpStatus, errorCode, failure)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """)
            try statement.execute(
                arguments: [
                    deliveryID, count + offset + 1, attempt.startedAt.milliseconds,
                    attempt.duration.wholeMicroseconds, attempt.httpStatus, attempt.errorCode, attempt.failure,
                ])
        }
    }
}

// Failures and lists of texts in rows are JSON: they are read as a whole, and their texts may be any.

extension PolicyTrace {
    private struct Content: Codable {
        let facts: [String]
        /// UNIX milliseconds.
        let usageAt: Int64?
    }

    /// Reads what `storedFacts` wrote.
    ///
    /// - Throws: `DecodingError` when this version does not know it.
    fileprivate init(rule: String, storedFacts: Data) throws {
        let content = try JSONDecoder().decode(Content.self, from: storedFacts)
        self.init(
            rule: rule, facts: content.facts, usageAt: content.usageAt.map { Date(milliseconds: $0) })
    }

    /// As the column `policyFacts` holds it.
    var storedFacts: Data {
        get throws { try JSONEncoder().encode(Content(facts: facts, usageAt: usageAt?.milliseconds)) }
    }
}

extension DeliveryFailure {
    private struct Content: Codable {
        struct Apple: Codable {
            let httpStatus: Int
            let errorCode: Int64?
            let errorName: String?
            let errorMessage: String?
            let environment: String
            let endpoint: String
            let body: Data
        }

        let reason: String
        let message: String
        let apple: Apple?
    }

    /// Reads what `stored` wrote.
    ///
    /// - Throws: `SQLError` when this version does not know it.
    init(stored: Data) throws {
        guard let content = try? JSONDecoder().decode(Content.self, from: stored),
            let reason = ServiceError.Reason(rawValue: content.reason)
        else { throw SQLError.damaged("unknown failure of a delivery") }
        self.init(reason: reason, message: content.message, apple: try content.apple.map(Self.apple))
    }

    /// As the columns `failure` and `cancellation` hold it.
    var stored: Data {
        get throws {
            let apple = apple.map {
                Content.Apple(
                    httpStatus: $0.httpStatus, errorCode: $0.errorCode, errorName: $0.errorName,
                    errorMessage: $0.errorMessage, environment: $0.environment.rawValue, endpoint: $0.endpoint,
                    body: Data($0.body))
            }
            return try JSONEncoder().encode(Content(reason: reason.rawValue, message: message, apple: apple))
        }
    }

    private static func apple(_ content: Content.Apple) throws -> AppleFailure {
        guard let environment = AppStoreEnvironment(rawValue: content.environment) else {
            throw SQLError.damaged("unknown environment in a delivery's failure")
        }
        return AppleFailure(
            httpStatus: content.httpStatus, errorCode: content.errorCode, errorName: content.errorName,
            errorMessage: content.errorMessage, environment: environment, endpoint: content.endpoint,
            body: Array(content.body))
    }
}
