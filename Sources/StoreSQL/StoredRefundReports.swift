package import Domain
import Foundation

extension SQLStore {
    package func refundReport(app: String, _ query: RefundReportQuery) async throws(ServiceError) -> RefundReport {
        try await read("report on refund requests") { database in
            var builder = RefundReportBuilder(query)
            let rows = try RefundReportRow.cursor(database, app: app, query)
            var present: (id: String, row: RefundReportRow)?
            while let next = try rows.next() {
                let row = OrderedRow(next)
                let id: String = try row.value("id")
                // The answers of a case follow one another.
                if var known = present, known.id == id {
                    present = nil
                    try known.row.addAnswer(of: row)
                    present = known
                } else {
                    if let present { try builder.add(present.row.entry()) }
                    present = (id, try RefundReportRow(row))
                }
            }
            if let present { try builder.add(present.row.entry()) }
            return builder.report()
        }
    }

    package func refundDecisions() async throws(ServiceError) -> [RefundDecisionCount] {
        try await read("read how Apple has decided") { database in
            // `app > ''` names the first column of the key, so that it is searched.
            let statement = try database.cachedStatement(
                sql: """
                    SELECT app, environment, outcome, nullif(refundPreference, '') AS refundPreference, count
                    FROM refundDecisionCount WHERE app > ''
                    """)
            return try SQLRow.fetchAll(statement).map { row in
                RefundDecisionCount(
                    app: try row.value("app"), environment: try row.known("environment"),
                    outcome: try row.known("outcome"), refundPreference: try row.knownIfPresent("refundPreference"),
                    count: try row.value("count"))
            }
        }
    }
}

/// How Apple has decided, as it is counted.
enum RefundDecisionRow {
    /// Counts the decision that a notice told, if it did.
    ///
    /// `before`: the cases as they were.
    static func count(_ change: CaseRules.Change, _ before: [RefundCase], in database: SQLDatabase) throws {
        let changed: [RefundCase] =
            switch change {
            case .none: []
            case .open(let one), .remind(let one), .decide(let one): [one]
            case .separate(let decided, let new): [decided, new]
            }
        for refundCase in changed {
            let known = before.first { $0.id == refundCase.id }
            guard let outcome = refundCase.outcome, outcome != known?.outcome else { continue }
            let answers = try database.cachedStatement(
                sql: """
                    SELECT refundPreference FROM delivery
                    WHERE caseId = ?1 AND state = 'accepted' AND endedAt = (
                        SELECT max(endedAt) FROM delivery WHERE caseId = ?1 AND state = 'accepted')
                    ORDER BY id DESC
                    """)
            let preference = try String.fetchOne(answers, arguments: [refundCase.id])
            try database.cachedStatement(
                sql: """
                    INSERT INTO refundDecisionCount (app, environment, outcome, refundPreference, count)
                    VALUES (?, ?, ?, ?, 1)
                    ON CONFLICT (app, environment, outcome, refundPreference) DO UPDATE SET
                        count = refundDecisionCount.count + 1
                    """
            ).execute(
                arguments: [
                    refundCase.app, refundCase.environment.rawValue, outcome.rawValue, preference ?? "",
                ])
        }
    }
}

/// What a report looks at of a case and its deliveries, as it stands in their tables.
struct RefundReportRow {
    /// What a query must ask for of the case, in this order, and behind it of the delivery.
    private static let caseColumns = [
        "refundCase.id", "refundCase.state", "requestedAt", "refundCase.deadline", "refundCase.productId", "reason",
        "storefront", "price", "currency", "owner IS NOT NULL AS isOwnerKnown", "declineCaller", "declineNote",
        "declineAt", "outcome", "decidedAt", "revocationPercentage",
    ]
    private static let answerColumns = [
        "delivery.id AS deliveryId", "delivery.state AS deliveryState", "endedAt", "failure", "refundPreference",
        "policyRule",
    ]

    private var found: RefundReportEntry
    /// The deliveries by id, in no order; `failure` is decoded only where it is asked for.
    private var answers: [(id: String, answer: RefundReportEntry.Answer, failure: Data?)] = []

    /// The cases of an app, one row for each delivery of a case, one after the other, and one for a case without.
    static func cursor(_ database: SQLDatabase, app: String, _ query: RefundReportQuery) throws -> any SQLRows {
        var conditions = Conditions()
        conditions.add("refundCase.app = ?", app)
        conditions.add("refundCase.environment = ?", query.environment.rawValue)
        if let from = query.from { conditions.add("refundCase.requestedAt >= ?", from.milliseconds) }
        if let to = query.to { conditions.add("refundCase.requestedAt < ?", to.milliseconds) }
        let statement = try database.cachedStatement(
            sql: """
                SELECT \((caseColumns + answerColumns).joined(separator: ", "))
                FROM refundCase LEFT JOIN delivery ON delivery.caseId = refundCase.id
                WHERE \(conditions.sql)
                ORDER BY requestedAt, refundCase.id
                """)
        return try SQLRow.fetchCursor(statement, arguments: conditions.arguments)
    }

    /// Reads a case whose id has been read, with the delivery beside it.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(_ row: OrderedRow) throws {
        found = RefundReportEntry(
            state: try row.known("state"), requestedAt: try row.date("requestedAt"), deadline: try row.date("deadline"))
        found.productID = try row.value("productId")
        found.reason = try row.value("reason")
        found.terms.storefront = try row.value("storefront")
        found.terms.price = try row.value("price")
        found.terms.currency = try row.value("currency")
        found.isOwnerKnown = try row.value("isOwnerKnown")
        found.decline = try CaseRow.decline(row)
        found.outcome = try row.knownIfPresent("outcome")
        found.decidedAt = try row.dateIfPresent("decidedAt")
        found.revocationPercentage = try row.value("revocationPercentage")
        try readAnswer(row)
    }

    /// Reads the delivery of a further row of the same case.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    mutating func addAnswer(of row: OrderedRow) throws {
        row.skip(Self.caseColumns.count - 1)
        try readAnswer(row)
    }

    private mutating func readAnswer(_ row: OrderedRow) throws {
        guard let id = try row.value("deliveryId", as: String?.self) else { return }
        let state: Delivery.State = try row.known("deliveryState")
        let endedAt = try row.dateIfPresent("endedAt")
        let failure = try row.value("failure", as: Data?.self)
        let answer = RefundReportEntry.Answer(
            state: state, endedAt: endedAt, refundPreference: try row.knownIfPresent("refundPreference"),
            policyRule: try row.value("policyRule"))
        answers.append((id, answer, failure))
    }

    /// The case with all its deliveries.
    ///
    /// - Throws: `SQLError` when why the last one ended is nothing that this version knows.
    func entry() throws -> RefundReportEntry {
        // Ids are in the order in which deliveries were made.
        let ordered = answers.count > 1 ? answers.sorted { $0.id < $1.id } : answers
        var entry = found
        entry.answers = ordered.map(\.answer)
        guard let (_, last, failure) = ordered.last, last.state == .cancelled, let failure else { return entry }
        entry.answers[ordered.count - 1] = RefundReportEntry.Answer(
            state: last.state, endedAt: last.endedAt, failure: try DeliveryFailure(stored: failure).reason,
            refundPreference: last.refundPreference, policyRule: last.policyRule)
        return entry
    }
}
